SELECT submitted.student_id, base_cell.name, comment.manual_comment
FROM comment
JOIN base_cell ON base_cell.id = comment.cell_id
JOIN submitted_notebook AS part ON part.id = comment.notebook_id
JOIN submitted_assignment AS submitted ON submitted.id = part.assignment_id
JOIN assignment ON assignment.id = submitted.assignment_id
WHERE comment.manual_comment IS NOT NULL AND assignment.name = :chapter {only}
ORDER BY submitted.student_id, base_cell.name
