"""A small course about tables: describing data with pandas, with a picture, a quiz and an essay that is graded manually."""

c = get_config()

c.CourseDirectory.course_id = "statistics"

c.Course.title = "Describing data, with pandas"
c.Course.chapters = ["ch1_one_column", "ch2_groups"]
c.Course.packages = ["numpy", "pandas", "matplotlib"]
c.Course.locate_seconds = 6.0  # trying an edit of a program takes longer with tables than with arrays
c.Course.at_least = {"misconceptions": 4, "alternatives": 3, "hints": 2}
