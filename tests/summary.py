"""Sums JUnit files into the last line `N passed, N failed[, N skipped]`; exit status 1 if anything failed.

usage: summary.py FILE[=STATUS]…   STATUS is the exit status of what wrote the file: a non-zero one without a
failure in the file, or a file that is not there, counts as one failure. Every failure and skip is named.
"""
import sys
import xml.etree.ElementTree as ElementTree


def verdict(case):
    """('passed' | 'failed' | 'skipped', reason). ctest calls a test whose program is missing skipped: it failed."""
    for child in case:
        if child.tag in ("failure", "error"):
            return "failed", child.get("message") or ""
        if child.tag == "skipped":
            reason = child.get("message") or ""
            if reason.startswith("SKIP_RETURN_CODE"):
                output = (case.findtext("system-out") or "").strip().splitlines()
                return "skipped", output[-1] if output else ""
            if case.get("status") in ("notrun", "disabled"):
                return "failed", reason
            return "skipped", reason
    return "passed", ""


def read(path, status):
    try:
        cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        return [("failed", path, str(error))]
    results = []
    for case in cases:
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        kind, reason = verdict(case)
        if kind == "skipped" and not reason:
            kind, reason = "failed", "skipped without a reason"
        results.append((kind, name, reason.splitlines()[0] if reason else ""))
    if status != 0 and not any(kind == "failed" for kind, _, _ in results):
        results.append(("failed", path, f"exit status {status}"))
    return results


def main(arguments):
    results = []
    for argument in arguments:
        path, _, status = argument.partition("=")
        results += read(path, int(status or 0))
    total = {kind: sum(1 for r in results if r[0] == kind) for kind in ("passed", "failed", "skipped")}
    for kind in ("skipped", "failed"):
        for _, name, reason in (r for r in results if r[0] == kind):
            print(f"{kind}: {name}: {reason}")
    line = f"{total['passed']} passed, {total['failed']} failed"
    print(line + (f", {total['skipped']} skipped" if total["skipped"] else ""))
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
