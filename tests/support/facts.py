"""Script suites made of facts: each a function that is told as failed if it raises."""
FACTS = []


def fact(function):
    FACTS.append(function)
    return function


def equal(got, expected, of=None):
    if got != expected:
        raise AssertionError(("" if of is None else f"{of}: ") + f"{str(got)[:500]}, expected {str(expected)[:500]}")


def told(*given):
    """Calls each test with the arguments and counts; returns the exit status."""
    failed = 0
    for each in FACTS:
        try:
            each(*given)
        except (AssertionError, RuntimeError, KeyError, IndexError, TypeError, ValueError) as error:
            failed += 1
            print(f"FAIL {each.__name__}: {type(error).__name__} {error}")
    print(f"{len(FACTS) - failed} passed, {failed} failed")
    return 1 if failed else 0
