"""Writes the same rows into tables of many formats, with the programs that people use, and as CSV.

    pip install duckdb openpyxl pandas polars pyarrow xlsxwriter
    python make.py
"""

import datetime as dt
import decimal
import sqlite3

import duckdb
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

ROWS = 40
START = dt.datetime(2026, 3, 28, 22, 0)  # local times; the clocks of Vienna go forward in the night


def rows():
    for row in range(ROWS):
        yield {
            "time": START + dt.timedelta(minutes=30 * row, milliseconds=250 * (row % 2)),
            "temp": None if row % 7 == 3 else round(20 + 0.1 * row, 1),
            "hum": None if row % 5 == 4 else 40 + row,
            "power": decimal.Decimal(1_000_000 + 37 * row).scaleb(-3),
            "sensor": "ab"[row % 2],
            "note": None if row % 3 else "x, \"y\"",
        }


table = list(rows())
columns = list(table[0])
frame = pd.DataFrame(table).astype({"hum": "Int64", "sensor": "category"})
exact = pa.table(
    {
        "time": pa.array([row["time"] for row in table], pa.timestamp("us")),
        "temp": pa.array([row["temp"] for row in table], pa.float64()),
        "hum": pa.array([row["hum"] for row in table], pa.int64()),
        "power": pa.array([row["power"] for row in table], pa.decimal128(12, 3)),
        "sensor": pa.array([row["sensor"] for row in table]).dictionary_encode(),
        "note": pa.array([row["note"] for row in table], pa.string()),
    }
)


def cast(**kinds):
    result = exact
    for name, kind in kinds.items():
        position = result.schema.get_field_index(name)
        result = result.set_column(position, name, result.column(name).cast(kind))
    return result


with open("rows.csv", "w") as out:
    out.write(",".join(columns) + "\n")
    for row in table:
        cells = [row["time"].isoformat(" ", "milliseconds"), *(row[name] for name in columns[1:5])]
        cells.append("" if row["note"] is None else '"x, ""y"""')
        out.write(",".join("" if cell is None else str(cell) for cell in cells) + "\n")

# Parquet
frame.to_parquet("pandas.parquet", index=False)
for name in ["none", "gzip", "lz4", "zstd", "brotli"]:
    pq.write_table(exact, f"{name}.parquet", compression=name, row_group_size=7)
pq.write_table(exact, "pages-2.parquet", data_page_version="2.0", compression="zstd")
pq.write_table(
    cast(sensor=pa.string()),
    "encodings.parquet",
    use_dictionary=False,
    column_encoding={
        "time": "DELTA_BINARY_PACKED",
        "temp": "BYTE_STREAM_SPLIT",
        "hum": "DELTA_BINARY_PACKED",
        "sensor": "DELTA_LENGTH_BYTE_ARRAY",
        "note": "DELTA_BYTE_ARRAY",
    },
)
pq.write_table(
    cast(hum=pa.uint64(), power=pa.decimal256(50, 3), temp=pa.float32(), time=pa.timestamp("ms")),
    "kinds.parquet",
    store_decimal_as_integer=True,
)
pq.write_table(cast(hum=pa.uint8(), power=pa.decimal64(12, 3)), "kinds-2.parquet", store_decimal_as_integer=True)
# The same times as instants, as the clocks of UTC show them.
utc = cast(time=pa.timestamp("ns", "UTC"))
pq.write_table(utc, "utc.parquet")
pq.write_table(exact, "int96.parquet", use_deprecated_int96_timestamps=True)
halves = exact.append_column("date", exact["time"].cast(pa.date32(), safe=False))
halves = halves.append_column("clock", pa.array([row["time"].time() for row in table], pa.time64("us")))
pq.write_table(halves.drop_columns(["time"]), "halves.parquet")
nested = pa.table(
    {
        "time": exact["time"],
        "air": pa.StructArray.from_arrays(
            [exact["temp"].combine_chunks(), exact["hum"].combine_chunks()], ["temp", "hum"]
        ),
        "list": pa.array([[row] * (row % 3) for row in range(ROWS)]),
        "power": exact["power"],
        "sensor": exact["sensor"],
    }
)
pq.write_table(nested, "nested.parquet")
lazy = pl.from_arrow(exact)
lazy.write_parquet("polars.parquet")
duckdb.sql("COPY (SELECT * FROM exact) TO 'duckdb.parquet' (PARQUET_VERSION v2)")

# Arrow
frame.to_feather("pandas.feather")
feather.write_feather(exact, "zstd.feather", compression="zstd", chunksize=9)
feather.write_feather(nested, "nested.feather", compression="uncompressed")
feather.write_feather(halves.drop_columns(["time"]), "halves.feather", compression="uncompressed")
feather.write_feather(utc, "utc.feather")
feather.write_feather(
    cast(hum=pa.uint64(), power=pa.decimal256(50, 3), temp=pa.float32(), time=pa.timestamp("ms")), "kinds.feather"
)
lazy.write_ipc("polars.arrow", compression="lz4")
options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
with pa.ipc.new_stream("deltas.arrows", exact.schema, options=options) as stream:
    for start in range(0, ROWS, 10):
        part = table[start : start + 10]
        names = ["a", "b"] if start else ["a"]
        keys = [names.index(row["sensor"]) if row["sensor"] in names else None for row in part]
        sensor = pa.DictionaryArray.from_arrays(pa.array(keys, pa.int32()), names)
        arrays = [exact.column(name).slice(start, 10).combine_chunks() for name in columns]
        arrays[columns.index("sensor")] = sensor
        stream.write_batch(pa.record_batch(arrays, schema=exact.schema))

# Workbooks
def cells(row):
    return [float(value) if isinstance(value, decimal.Decimal) else value for value in row.values()]


book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Readings"
sheet.append(columns)
for row in table:
    sheet.append(cells(row))
book.create_sheet("Notes").append(["Nothing here"])
book.save("openpyxl.xlsx")

book = openpyxl.Workbook()
book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
sheet = book.active
sheet["A1"] = "Station 7"
for position, name in enumerate(["hum", "sensor", "time", "temp", "power"]):
    sheet.cell(4, 2 + position, name)
    sheet.cell(5, 2 + position, ["%", None, None, "°C", "kW"][position])
for at, row in enumerate(table):
    if at == 20:
        for position, name in enumerate(["time", "temp", "power", "hum", "sensor"]):
            sheet.cell(6 + at, 2 + position, name)
    names = ["hum", "sensor", "time", "temp", "power"] if at < 20 else ["time", "temp", "power", "hum", "sensor"]
    for position, name in enumerate(names):
        value = row[name]
        if isinstance(value, decimal.Decimal):
            value = float(value)
        sheet.cell(6 + at + (at >= 20), 2 + position, value)
book.save("heads.xlsx")

frame.assign(time=frame["time"].astype(str)).to_excel("text-times.xlsx", index=False, engine="xlsxwriter")
with pd.ExcelWriter("sheets.xlsx", engine="xlsxwriter") as writer:
    frame.to_excel(writer, sheet_name="First", index=False)
    frame.assign(temp=frame["temp"] + 1).to_excel(writer, sheet_name="Second", index=False)
    frame[["time", "note"]].to_excel(writer, sheet_name="Third", index=False)

# SQLite
for name in ["rows.sqlite", "wal.sqlite"]:
    open(name, "w").close()
    database = sqlite3.connect(name)
    if name.startswith("wal"):
        database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA page_size = 1024")
    database.execute("CREATE TABLE readings (time TEXT, temp REAL, hum INTEGER, power REAL, sensor TEXT, note TEXT)")
    database.execute(
        "CREATE TABLE seconds (at INTEGER, temp REAL, hum INTEGER, power REAL, sensor TEXT, PRIMARY KEY (at, sensor)) "
        "WITHOUT ROWID"
    )
    database.execute("CREATE TABLE reals (ts REAL, temp REAL, hum INTEGER, power REAL, kind INTEGER)")
    database.execute("CREATE TABLE meta (kind INTEGER PRIMARY KEY, sensor TEXT)")
    database.executemany("INSERT INTO meta VALUES (?, ?)", [(1, "a"), (2, "b")])
    for row in table:
        time = row["time"].isoformat(" ", "milliseconds")
        seconds = row["time"].replace(tzinfo=dt.timezone.utc).timestamp()
        power = float(row["power"])
        values = [row["temp"], row["hum"], power]
        database.execute("INSERT INTO readings VALUES (?, ?, ?, ?, ?, ?)", [time, *values, row["sensor"], row["note"]])
        database.execute("INSERT INTO seconds VALUES (?, ?, ?, ?, ?)", [int(seconds), *values, row["sensor"]])
        kind = {"a": 1, "b": 2}[row["sensor"]]
        database.execute("INSERT INTO reals VALUES (?, ?, ?, ?, ?)", [seconds, *values, kind])
    database.execute("CREATE VIEW joined AS SELECT ts, temp, hum, power, sensor FROM reals JOIN meta USING (kind)")
    database.commit()
    database.close()
