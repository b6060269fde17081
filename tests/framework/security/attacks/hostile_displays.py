"""Values whose display never ends, has megabytes, or contains a script."""

class Show:
    def _repr_html_(self):
        return "<script>alert(1)</script>" * 10**6
    def _repr_png_(self):
        return b"\x89PNG\r\n\x1a\n" * 10**6
    def _repr_svg_(self):
        raise SystemExit
    def __repr__(self):
        while True:
            pass

def softmax(x):
    return Show()

for _ in range(1000):
    display(Show())
Show()
