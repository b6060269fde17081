"""The course: what it is called, its chapters in order, and what a student's code may use.

An nbgrader (traitlets) configuration with no side effects: nbgrader reads a configuration more than once.
"""

c = get_config()

c.CourseDirectory.course_id = "attention"

c.Course.title = "Attention from scratch, in NumPy"
c.Course.chapters = [
    "ch0_orientation",
    "ch1_weighted_averaging",
    "ch2_query_key_value",
    "ch3_scaling",
    "ch4_masking",
    "ch5_multi_head",
    "ch6_complexity",
    "ch7_capstone",
    "ch8_language_model",
]

# nbgrader's own chains of steps, with these changes:
#  - ClearSolutions is left out: no answer is ever in a source notebook, and it would wipe the stubs;
#  - RecordExamples puts what check() needs beside a released notebook;
#  - RestoreCells takes the place of DeduplicateIds, after which a cell that was copied stops the whole batch;
#  - GradeConfined takes the place of Execute: the code runs in a jail, the checks outside it.
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
    "autograder.preprocessors.grade.RecordExamples",
]
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "autograder.preprocessors.grade.RestoreCells",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = [
    "autograder.preprocessors.grade.GradeConfined",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "autograder.preprocessors.grade.SaveOutcome",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
