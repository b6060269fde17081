SELECT submitted.student_id, base_cell.name, grade.manual_score, grade.extra_credit, grade.needs_manual_grade
FROM grade
JOIN base_cell ON base_cell.id = grade.cell_id
JOIN submitted_notebook AS part ON part.id = grade.notebook_id
JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
JOIN assignment ON assignment.id = submitted.assignment_id
WHERE (grade.manual_score IS NOT NULL OR grade.extra_credit IS NOT NULL OR grade.needs_manual_grade)
    AND assignment.name = :chapter {only}
ORDER BY submitted.student_id, base_cell.name
