"""The pytest plugin, in runs of pytest that it serves."""

import os
import re

import pytest

from understudy import Understudy

FAILING = """
    import urllib.request, urllib.error, pytest

    def app(base_url):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(base_url + "/api/v1/partner/317/customer/entity123/addressbook", timeout=10)
"""
# What a report says of the call that FAILING makes.
WORDS = ["*#1 GET /api/v1/partner/317/customer/entity123/addressbook (rezolve, addressbook.list)",
         "*answered 403: masked-api-key", "*failed rules: api-key, *", "*reason: api-key: found nothing; expected *"]


def run(pytester, *arguments):
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def test_a_test_has_a_sandbox_that_is_gone_after_it(pytester):
    pytester.makepyfile("""
        import pytest
        names = []

        @pytest.mark.parametrize("number", [1, 2])
        def test_it(sandbox, understudy, number):
            assert sandbox.clock.read().is_machine_time
            sandbox.clock.freeze(1800000000)
            names.append(sandbox.name)
            assert understudy.is_own

        def test_they_are_gone(understudy):
            assert len(set(names)) == 2 and all(name.startswith("test-it-") for name in names)
            assert [each["name"] for each in understudy.sandboxes()] == ["default"]
    """)
    run(pytester).assert_outcomes(passed=3)


@pytest.mark.parametrize(("phase", "body", "outcome"), [
    ("call", """
    def test_it(sandbox):
        app(sandbox.base_url)
        assert False
    """, {"failed": 1}),
    ("setup", """
    @pytest.fixture
    def broken(sandbox):
        app(sandbox.base_url)
        assert False

    def test_it(broken):
        pass
    """, {"errors": 1}),
    ("teardown", """
    @pytest.fixture
    def broken(sandbox):
        yield
        app(sandbox.base_url)
        assert False

    def test_it(broken):
        pass
    """, {"passed": 1, "errors": 1}),
])
def test_a_failure_shows_the_journal(pytester, phase, body, outcome):
    pytester.makepyfile(FAILING + body)
    result = run(pytester)
    result.assert_outcomes(**outcome)
    result.stdout.fnmatch_lines([f"*Understudy's journal ({phase})*", "Sandbox test-it-*, newest last:", *WORDS])
    assert result.stdout.str().count("Understudy's journal") == 1


def test_a_test_that_passes_or_has_no_sandbox_shows_none(pytester):
    pytester.makepyfile(FAILING + """
    def test_passing(sandbox):
        app(sandbox.base_url)

    def test_alone():
        assert False

    def test_with_the_server_only(understudy):
        assert False
    """)
    result = run(pytester, "-rA")
    result.assert_outcomes(passed=1, failed=2)
    assert "Understudy's journal" not in result.stdout.str()


def test_a_failed_expectation_ends_at_the_line_of_the_test(pytester):
    pytester.makepyfile("""
        def test_it(sandbox):
            sandbox.expect_calls(route="rua.ping")
    """)
    result = run(pytester)
    result.stdout.fnmatch_lines([">*sandbox.expect_calls(route=\"rua.ping\")", "E*UnmetExpectation: expected at least 1 exchange, found 0*"])
    assert "def expect_calls" not in result.stdout.str()


def test_the_end_of_the_report_says_what_was_met(pytester):
    pytester.makepyfile("""
        import urllib.request

        def ask(sandbox, path):
            try:
                urllib.request.urlopen(urllib.request.Request(sandbox.base_url + path))
            except OSError:
                pass

        def test_one(sandbox):
            ask(sandbox, "/v2/credentials/ping")

        def test_another(sandbox):
            ask(sandbox, "/api/v1/partner/317/nothing")

        def test_without_calls(sandbox):
            pass
    """)
    result = run(pytester)
    result.stdout.fnmatch_lines(["*Understudy's coverage*", "rezolve: 2 of * failures, 1 of * routes; never met: *"])
    pytester.makepyfile("def test_nothing(): pass")
    assert "coverage" not in run(pytester).stdout.str()


@pytest.fixture
def attached(pytester):
    """A server that already runs, and a test that says which one it uses."""
    pytester.makepyfile("""
        def test_it(understudy, sandbox):
            sandbox.reset()
            print("at", understudy.url, understudy.is_own)
            print("ttl", [each["ttl_seconds"] for each in understudy.sandboxes() if each["name"] == sandbox.name])
    """)
    with Understudy.start() as server:
        yield server


def test_a_flag_attaches(pytester, attached, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_URL", "http://127.0.0.1:9")
    run(pytester, "-s", "--understudy-url", attached.url).stdout.fnmatch_lines([f"*at {attached.url} False", "ttl [[]7200*"])
    # It keeps running, and nothing is left in it.
    assert [each["name"] for each in attached.sandboxes()] == ["default"]


def test_the_environment_attaches(pytester, attached, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_URL", attached.url)
    monkeypatch.setenv("UNDERSTUDY_BINARY", "/nowhere")
    run(pytester, "-s").stdout.fnmatch_lines([f"*at {attached.url} False"])


def test_a_binary_goes_before_the_environment(pytester, attached, monkeypatch):
    binary = os.environ["UNDERSTUDY_BINARY"]
    monkeypatch.setenv("UNDERSTUDY_URL", attached.url)
    monkeypatch.setenv("UNDERSTUDY_BINARY", "/nowhere")
    result = run(pytester, "-s", "--understudy-binary", binary)
    result.stdout.fnmatch_lines(["*at http://127.0.0.1:* True", "ttl [[]None[]]"])
    assert attached.url not in result.stdout.str()


def test_the_program_of_the_same_environment_is_started(pytester, server_package):
    pytester.makepyfile("def test_it(understudy): assert understudy.is_own")
    run(pytester).assert_outcomes(passed=1)
    server_package.unlink()
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*this is the one in PATH*"])


def test_both_at_once_are_refused(pytester, attached):
    result = run(pytester, "--understudy-url", attached.url, "--understudy-binary", "understudy")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*name one of them"])


def test_a_missing_program_is_an_error_that_says_what_to_do(pytester, monkeypatch):
    monkeypatch.setenv("UNDERSTUDY_BINARY", "/nowhere")
    pytester.makepyfile("def test_it(sandbox): pass")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E*StartFailed: there is no program /nowhere; *UNDERSTUDY_URL*"])


def test_a_suite_chooses_the_server_s_options(pytester):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(scope="session")
        def understudy_options():
            return ["--seed", "7"]
    """)
    pytester.makepyfile("def test_it(sandbox): assert sandbox.clock.read().unix == 1800000000")
    run(pytester).assert_outcomes(passed=1)


def test_a_server_that_dies_in_a_test_is_told_and_the_session_ends(pytester):
    pytester.makepyfile("""
        def test_it(understudy, sandbox):
            understudy._process._process.kill()
            understudy._process._process.wait()
            sandbox.clock.read()
    """)
    result = run(pytester)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(["*UnderstudyError: the server ended with code -9"])
    result.stdout.fnmatch_lines([
        "E*Unreachable: no answer from Understudy at *", "*Understudy's journal (call)*", "The journal could not be read: no answer *"])


def test_the_server_ends_with_the_session(pytester):
    pytester.makepyfile("def test_it(understudy): print('pid', understudy._process._process.pid)")
    found = re.search(r"pid (\d+)", run(pytester, "-s").stdout.str())
    with pytest.raises(ProcessLookupError):
        os.kill(int(found[1]), 0)


def test_help_names_the_flags_and_the_fixtures(pytester):
    run(pytester, "--help").stdout.fnmatch_lines(["understudy, *:", "*--understudy-url*URL*", "*--understudy-binary*FILE*"])
    run(pytester, "--fixtures").stdout.fnmatch_lines(["sandbox -- *", "*A sandbox of the test's own*"])
