SELECT submitted.student_id, submitted.timestamp, submitted.extension, part.late_submission_penalty
FROM assignment
JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
WHERE assignment.name = :chapter {only}
