"""A small course without NumPy: text as strings, lists, dictionaries and sets, a class, and tests that students write."""

c = get_config()

c.CourseDirectory.course_id = "plain_python"

c.Course.title = "Finding words: a little Python of your own"
c.Course.chapters = ["ch2_index"]
