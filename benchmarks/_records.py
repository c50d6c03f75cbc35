"""Records of results in a file, for runs that are stopped and go on later."""

import json


def key(record):
    """Return what a record is found by."""
    return tuple(record[part] for part in ("set", "setting", "seed", "method"))


class Records:
    """Records in a file, a line of JSON each; the last one with a key counts."""

    def __init__(self, path):
        self.path = path
        self.found = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:  # cut off when a run was killed
                    continue
                self.found[key(record)] = record

    def forget(self, methods):
        """Drop the records of some methods, so that they are run again."""
        self.found = {k: r for k, r in self.found.items() if k[3] not in methods}
        if self.path.exists():
            part = self.path.with_suffix(".part")
            part.write_text("".join(json.dumps(r) + "\n" for r in self.found.values()))
            part.replace(self.path)

    def add(self, records):
        """Append records."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A killed run may have left half a line: start a new one.
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            for record in records:
                file.write((json.dumps(record) + "\n").encode())
        self.found.update({key(record): record for record in records})
