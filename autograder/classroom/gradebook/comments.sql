SELECT submitted.student_id, base_cell.name, comment.manual_comment, comment.auto_comment
FROM assignment
JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
JOIN comment ON comment.notebook_id = part.id
JOIN base_cell ON base_cell.id = comment.cell_id
WHERE assignment.name = :chapter AND (comment.manual_comment IS NOT NULL OR comment.auto_comment LIKE :ungraded) {only}
ORDER BY base_cell.name
