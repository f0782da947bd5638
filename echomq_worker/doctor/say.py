"""Makes findings of the environment in few words."""

from echomq_worker.domain.finding import Finding, Severity


def ok(check: str, text: str, hint: str = "") -> Finding:
    """Say that all is well."""
    return Finding(check=check, severity=Severity.OK, text=text, hint=hint)


def warn(check: str, text: str, hint: str = "") -> Finding:
    """Say that something may go wrong, or could not be found out."""
    return Finding(check=check, severity=Severity.WARN, text=text, hint=hint)


def fail(check: str, text: str, hint: str = "") -> Finding:
    """Say that jobs will be lost, or cannot run."""
    return Finding(check=check, severity=Severity.FAIL, text=text, hint=hint)
