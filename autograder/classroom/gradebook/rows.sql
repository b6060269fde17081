WITH scores AS (
    SELECT notebook_id, COUNT(*) AS cells, COUNT(auto_score) AS scored, SUM(auto_score) AS score,
        COUNT(manual_score) AS by_hand, SUM(manual_score) AS hand, SUM(extra_credit) AS extra,
        SUM(CASE WHEN needs_manual_grade THEN 1 ELSE 0 END) AS waiting
    FROM grade GROUP BY notebook_id
), remarks AS (SELECT notebook_id, COUNT(auto_comment) AS comments FROM comment GROUP BY notebook_id)
SELECT submitted.student_id, assignment.duedate, submitted.timestamp, submitted.extension,
    part.late_submission_penalty, cells, scored, score, by_hand, hand, extra, waiting, comments
FROM assignment
JOIN submitted_assignment AS submitted ON submitted.assignment_id = assignment.id
JOIN submitted_notebook AS part ON part.assignment_id = submitted.id
LEFT JOIN scores ON scores.notebook_id = part.id
LEFT JOIN remarks ON remarks.notebook_id = part.id
WHERE assignment.name = :chapter {only}
