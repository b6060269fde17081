"""Test entering marks through Canvas's API, with a local server that follows https://canvas.instructure.com/doc/api."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner

from autograder.cli.app import app
from autograder.extras.export.canvas_api import TOKEN
from tests.framework.extras.export.test_export import course  # noqa: F401 - a fixture
from tests.support.mini import CHAPTER

pytest.importorskip("canvasapi", reason="canvasapi is not installed: pip install canvasapi")

SECRET = "7~a-token-that-nobody-may-see"  # noqa: S105 - a token for the local server only


class CanvasServer(ThreadingHTTPServer):
    """A local Canvas server with one course: its users, two assignments, and the submissions of the first."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answers)
        self.users = [
            {"id": 101, "name": "Ada Byron", "login_id": "ada@x.org"},
            {"id": 202, "name": "Bob", "sis_user_id": "bob", "login_id": "b"},
            {"id": 303, "name": "Dot", "sis_user_id": "S-4", "login_id": "d"},
        ]
        self.assignment = {
            "id": 4711,
            "course_id": 17,
            "name": "Ch1_units",
            "points_possible": 6.0,
            "grading_type": "points",
        }
        self.scores = {101: None, 202: 3.0, 303: None}
        self.times = {101: "2026-01-09T08:00:00Z", 202: "2026-01-12T09:30:00Z"}
        self.excused, self.closed, self.requests = set(), set(), []
        self.broken = 0  # the status with which every request fails, or 0 if none fails

    @property
    def url(self):
        """The address of the course."""
        return f"http://127.0.0.1:{self.server_port}/courses/17"


class Answers(BaseHTTPRequestHandler):
    """A request handler that returns the documented status codes and pages of results."""

    def do_GET(self):
        place = urlsplit(self.path)
        if not self._allowed():
            return
        server, path, page = (
            self.server,
            place.path.removeprefix("/api/v1"),
            int(parse_qs(place.query).get("page", ["1"])[0]),
        )
        if path == "/courses/17":
            self._send({"id": 17, "name": "Attention"})
        elif path in {"/courses/17/users", "/courses/17/search_users"}:
            self._pages(server.users, page, 2)
        elif path == "/courses/17/assignments":
            self._pages([server.assignment, {**server.assignment, "id": 4712, "name": "Essay"}], page, 1)
        elif path == "/courses/17/assignments/4711/submissions":
            rows = [
                {"user_id": u, "score": s, "excused": u in server.excused, "submitted_at": server.times.get(u)}
                for u, s in server.scores.items()
            ]
            self._pages(rows, page, 2)
        elif path == "/progress/5":
            self._send({"id": 5, "workflow_state": "completed", "completion": 100})
        else:
            self._send({"errors": [{"message": "The specified resource does not exist."}]}, 404)

    def do_POST(self):
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if not self._allowed():
            return
        assert self.path == "/api/v1/courses/17/assignments/4711/submissions/update_grades"
        for key, [value] in body.items():
            user = int(re.fullmatch(r"grade_data\[(\d+)\]\[posted_grade\]", key)[1])
            if user not in self.server.closed:
                self.server.scores[user] = round(float(value), 2)
        self._send({"id": 5, "workflow_state": "queued", "completion": None})

    def _allowed(self):
        self.server.requests.append((self.command, urlsplit(self.path).path))
        if self.server.broken:
            self._send({"errors": [{"message": "Rate Limit Exceeded"}]}, self.server.broken)
            return False
        if self.headers["Authorization"] == f"Bearer {SECRET}":
            return True
        self._send(
            {"errors": [{"message": "Invalid access token."}]}, 401, {"WWW-Authenticate": 'Bearer realm="canvas-lms"'}
        )
        return False

    def _pages(self, rows, page, size):
        there = urlsplit(self.path).path
        link = f'<http://{self.headers["Host"]}{there}?page={page + 1}>; rel="next"' if page * size < len(rows) else ""
        self._send(rows[(page - 1) * size : page * size], headers={"Link": link} if link else {})

    def _send(self, data, status=200, headers=()):
        text = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(text)),
            **dict(headers),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_arguments):
        """Do not log requests."""


@pytest.fixture
def canvas(monkeypatch) -> Iterator[CanvasServer]:
    """A local Canvas server, whose token is in the environment."""
    monkeypatch.setenv(TOKEN, SECRET)
    server = CanvasServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def push(course, canvas, *options, status=0):  # noqa: F811
    """Run ``export --push`` and return the result, after asserting that its output does not contain the token."""
    command = ["export", CHAPTER, "--push", "canvas", "--url", canvas.url, "--course", str(course.root), *options]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == status, (done.output, done.exception)
    assert SECRET not in done.output
    return done


def test_a_push_shows_every_change_and_sends_nothing_by_default(course, canvas):  # noqa: F811
    """Without --send, the changes are printed, and Canvas gets only read requests."""
    done = push(course, canvas)
    assert done.stdout == "ch1_units  ada: – → 6\nch1_units  bob: 3 → 4.5\n"
    assert "1 student with marks is not in the Canvas course: cut." in done.stderr
    assert "Nothing was sent. To enter 2 marks in the course “Attention”, add --send." in done.stderr
    assert canvas.scores == {101: None, 202: 3.0, 303: None}
    assert {method for method, _path in canvas.requests} == {"GET"}


def test_a_push_asks_and_reads_the_marks_again(course, canvas):  # noqa: F811
    """The command needs --yes, or a terminal for its question. After a push, Canvas has the marks, and a second push changes nothing."""
    assert (
        "Without a terminal, you cannot answer. To enter the marks without this question, add --yes"
        in push(course, canvas, "--send", status=2).stderr
    )
    assert canvas.scores[101] is None
    done = push(course, canvas, "--send", "--yes")
    assert "Entered 2 marks in the course “Attention”, and read them back from Canvas to check." in done.stderr
    assert canvas.scores == {101: 6.0, 202: 4.5, 303: None}
    again = push(course, canvas, "--send", "--yes")
    assert "Canvas already has all of these marks." in again.stderr
    assert sum(method == "POST" for method, _path in canvas.requests) == 1


def test_a_push_leaves_excused_students_and_reports_marks_that_canvas_refuses(course, canvas):  # noqa: F811
    """An excused student stays excused. A mark that Canvas does not accept is named, and the exit status is 1."""
    canvas.excused, canvas.closed = {101}, {202}
    done = push(course, canvas, "--send", "--yes", status=1)
    assert "1 mark left out, because the work is excused in Canvas: ada." in done.stderr
    assert "Canvas did not accept 1 mark: bob (ch1_units). Their grading period may be closed." in done.stderr


def test_a_push_needs_the_same_points(course, canvas):  # noqa: F811
    """If the assignment's maximum points differ in Canvas, --scale or --as-is is required."""
    canvas.assignment["points_possible"] = 100.0
    done = push(course, canvas, status=2)
    assert "ch1_units has 6 points in the gradebook, but 100 in Canvas. Nothing was written. Use --scale" in done.stderr
    assert "ada: – → 100\n" in push(course, canvas, "--scale").stdout
    assert "ada: – → 6\n" in push(course, canvas, "--as-is").stdout


@pytest.mark.parametrize(
    ("options", "status", "told"),
    [
        (["--url", "https://canvas.example.edu"], 2, "'https://canvas.example.edu' is not the address of a course."),
        (["--column", f"{CHAPTER}=Quiz"], 2, "has no assignment called 'Quiz'. Nothing was sent. Its assignments are: Ch1_units, Essay."),
        (["--url", "http://127.0.0.1:9/courses/17"], 1, "Canvas cannot be reached. Check --url and the network."),
        (["--to", "canvas"], 2, "Use --to to write a file, or --push to enter the marks through an API."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_push_is_one_sentence(course, canvas, options, status, told):  # noqa: F811
    """A wrong address, a missing assignment and a Canvas that does not answer are reported without a traceback."""
    assert told in push(course, canvas, *options, status=status).stderr


def test_a_wrong_token_and_a_missing_one_are_reported(course, canvas, monkeypatch):  # noqa: F811
    """The messages name the environment variable, but never its value."""
    monkeypatch.setenv(TOKEN, "wrong-token")
    done = push(course, canvas, status=1)
    assert f"Canvas: The token in {TOKEN} is wrong or has expired." in done.stderr
    assert "wrong-token" not in done.output
    monkeypatch.delenv(TOKEN)
    assert (
        f"needs a token in the environment variable {TOKEN}. Create one in Canvas"
        in push(course, canvas, status=2).stderr
    )


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (
            403,
            "The token's owner does not have permission to do this in the course, or there were too many requests. Check the permission, or wait a minute.",
        ),
        (404, "The token's owner has no access to this course or assignment. Check --url and --column."),
        (429, "There were too many requests. Wait a minute."),
        (503, "CanvasException: Encountered an error: status code 503. Wait, or fix the problem."),
    ],
)
def test_a_canvas_that_refuses_is_one_sentence(course, canvas, status, told):  # noqa: F811
    """Each error status of the API is explained, and the command exits with status 1."""
    canvas.broken = status
    assert push(course, canvas, status=1).stderr == f"Canvas: {told} Then run the same command again.\n"
