"""The course: what it is called, its chapters in order, and what a student's code may use.

An nbgrader (traitlets) configuration with no side effects: nbgrader reads a configuration more than once.
"""

c = get_config()

c.CourseDirectory.course_id = "attention"

c.Course.title = "Attention from scratch, in NumPy"
c.Course.at_least = {"misconceptions": 6, "alternatives": 4, "hints": 3}  # of each exercise
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
