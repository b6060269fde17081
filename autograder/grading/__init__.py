"""From submitted notebooks to verdicts, and from verdicts to nbgrader's gradebook."""
