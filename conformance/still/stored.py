"""Rows and files of plants, stores and spools."""

import hashlib
import sqlite3


def digest(path):
    return (
        f"{path.stat().st_size} bytes, sha256 {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        if path.exists()
        else "missing\n"
    )


def entry(path):
    """Describes a file: its mode, and its size where that is no chance."""
    mode = f"{path.stat().st_mode & 0o777:o}"
    if path.is_dir():
        return f"folder {mode}\n"
    # DER has no fixed length, settings name a port of this run, answers have times in them.
    return (
        f"{mode}\n"
        if path.suffix in (".pem", ".key", ".toml", ".evidence") or path.parent.name == "answers"
        else f"{mode} {path.stat().st_size} bytes\n"
    )


def rows(house, plant):
    """Returns schema and rows of the store as text; hexadecimal digits of new rows are replaced by their number."""
    text = []
    with sqlite3.connect(house.folder / plant / "cloud/cloud.sqlite") as store:
        for name, sql in store.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
        ).fetchall():
            text.append(sql + ";")
        text.append(f"user_version {store.execute('PRAGMA user_version').fetchone()[0]}")
        for (table,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            lines = []
            columns = [column[1] for column in store.execute(f"PRAGMA table_info({table})")]
            for row in store.execute(f"SELECT * FROM {table}"):
                cells = (
                    f"{column}={'x' + value.hex() if isinstance(value, bytes) else value}"
                    for column, value in zip(columns, row)
                    if column != "evaluate_us"
                )
                lines.append(house.plain(" ".join(cells)).replace("=x", "="))
            text += [f"-- {table}: {len(lines)} rows", *sorted(lines)]
    store.close()
    return "\n".join(text) + "\n"


def stored(house):
    """Notes the files of plant and stores after all commands."""
    for plant in ("plant", "fleet"):
        house.note(f"stored-{plant}", "rows", rows(house, plant))
        lines = []
        for path in sorted((house.folder / plant).rglob("*")):
            name = house.plain(str(path.relative_to(house.folder)))
            if path.name.startswith("cloud.sqlite"):
                continue
            # Bodies that were kept have their digests; the others are random.
            kept = path.is_file() and path.stat().st_size > 0 and path.read_bytes() in house.binary
            more = "as kept, sha256 " + hashlib.sha256(path.read_bytes()).hexdigest() if kept else ""
            lines.append(f"{name}: {entry(path).strip()} {more}".strip())
        house.note(f"stored-{plant}", "files", "\n".join(sorted(lines)) + "\n")
    lines = []
    for path in sorted(house.folder.glob("*.spool/**/*")):
        lines.append(f"{house.plain(str(path.relative_to(house.folder)))}: {entry(path).strip()}")
    house.note("stored-spools", "files", "\n".join(sorted(lines)) + "\n")
    for path in sorted(house.folder.glob("*.spool/state.json")):
        house.file("stored-spools", path.relative_to(house.folder))
