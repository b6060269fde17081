SELECT submitted.student_id, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit,
    grade.needs_manual_grade, grade_cells.max_score, task_cells.max_score
FROM assignment
JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
JOIN base_cell ON base_cell.notebook_id = part.notebook_id
LEFT JOIN grade ON grade.notebook_id = part.id AND grade.cell_id = base_cell.id
LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
LEFT JOIN task_cells ON task_cells.id = base_cell.id
WHERE assignment.name = :chapter AND (grade_cells.id IS NOT NULL OR task_cells.id IS NOT NULL) {only}
ORDER BY base_cell.name
