"""A small course without NumPy: text as strings, lists and dictionaries, a class, and tests that students write."""

c = get_config()

c.CourseDirectory.course_id = "plain_python"

c.Course.title = "Finding words: a little Python of your own"
c.Course.chapters = ["ch1_words", "ch2_index"]
