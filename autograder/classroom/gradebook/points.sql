SELECT base_cell.name, grade_cells.max_score, task_cells.max_score FROM assignment
JOIN notebook ON notebook.assignment_id = assignment.id
JOIN base_cell ON base_cell.notebook_id = notebook.id
LEFT JOIN grade_cells ON grade_cells.id = base_cell.id
LEFT JOIN task_cells ON task_cells.id = base_cell.id
WHERE assignment.name = :chapter AND (grade_cells.id IS NOT NULL OR task_cells.id IS NOT NULL)
