#!/usr/bin/env python3
"""Queries of encrypted databases on rows of TPC-H's lineitem, as questions about readings.

    python3 lab/scale/tables.py --bin target/release [--rows 4096,32768] [--json]

NSHEDB (Jung, Li, Tseng, SIGMOD 2026, arXiv:2602.24271) runs queries of TPC-H on BFV ciphertexts of up to 32,768 rows, and reports
that HE3DB and ArcEDB take 20 to 1,370 times as long. Here each row is a reading of a device, a group of Q1 is a device, and an
expression over columns is a derived channel, which has to be declared before the rows are sent. Columns have the ranges of TPC-H;
every answer is compared with exact integers, and is within its bound. Times are those of whole processes, keys and tags included.

Sayable: Q1 (sums, means and counts by group), Q6 (a sum of products under conditions), counts under a comparison with a constant.
Not sayable: joins (Q2 to Q5, Q7 to Q12, Q14 to Q22), groups by an encrypted column (groups are devices and times), conditions
thought of after the rows were sent, LIKE, EXISTS.
"""

import argparse
import csv
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

FIRST = 1_704_067_200
# The groups of Q1, with their shares of the rows.
GROUPS = {"a-f": 0.25, "n-f": 0.01, "n-o": 0.49, "r-f": 0.25}
# Prices in whole cents per unit, discounts and taxes in hundredths: everything is an integer here.
CHANNELS = {
    "quantity": ["--range", "0..50", "--resolution", "1"],
    "price": ["--range", "0..105000", "--resolution", "0.01"],
    "discount": ["--range", "0..0.1", "--resolution", "0.01"],
    "tax": ["--range", "0..0.08", "--resolution", "0.01"],
}
# Hundredths of a discount from 5 to 7 and quantities below 24 have a factor of 1, others of 0.
IS_FIVE_TO_SEVEN = "min(1, max(0, 100 * discount - 4)) * min(1, max(0, 8 - 100 * discount))"
DERIVED = {
    "discounted": ("price * (1 - discount)", "0.01"),
    "charge": ("price * (1 - discount) * (1 + tax)", "0.01"),
    "revenue": (f"price * discount * {IS_FIVE_TO_SEVEN} * min(1, max(0, 24 - quantity))", "0.01"),
}
QUESTIONS = {
    "Q1": "sum(quantity), sum(price), sum(discounted), sum(charge), mean(quantity), mean(price), mean(discount), count(price) "
    "per device",
    "Q6": "sum(revenue)",
    "comparison with a constant": "count(quantity < 24), count(0.05 <= discount <= 0.07)",
}


def rows(count):
    """Rows of lineitem: quantity, price in cents, discount and tax in hundredths, group."""
    draw = random.Random(19)
    names, shares = list(GROUPS), list(GROUPS.values())
    for _ in range(count):
        quantity = draw.randint(1, 50)
        price = quantity * draw.randint(90_000, 209_900)
        yield quantity, price, draw.randint(0, 10), draw.randint(0, 8), draw.choices(names, shares)[0]


def exact(table):
    """The answers, in the units of the questions' integers."""
    groups = {}
    for quantity, price, discount, tax, group in table:
        sums = groups.setdefault(group, [0] * 6)
        discounted = price * (100 - discount)
        for at, value in enumerate((quantity, price, discounted, discounted * (100 + tax), discount, 1)):
            sums[at] += value
    revenue = sum(p * d for q, p, d, _, _ in table if q < 24 and 5 <= d <= 7)
    counts = sum(q < 24 for q, *_ in table), sum(5 <= d <= 7 for _, _, d, *_ in table)
    return groups, revenue, counts


class Plant:
    def __init__(self, folder, programs):
        self.folder, self.programs = folder, Path(programs).resolve()

    def run(self, program, *arguments):
        command = [self.programs / program, *arguments]
        ended = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        if ended.returncode != 0:
            sys.exit(f"{program} {' '.join(map(str, arguments))}: {ended.stderr}{ended.stdout}")
        return ended.stdout

    def start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.run("sotto", "init", "plant", "--listen", f"127.0.0.1:{port}")
        for name, options in CHANNELS.items():
            self.run("sotto", "channel", "add", name, *options, "--every", "1s")
        for name, (formula, resolution) in DERIVED.items():
            self.run("sotto", "channel", "derive", f"{name} = {formula}", "--unit", "1", "--resolution", resolution)
        for name, question in QUESTIONS.items():
            self.run("sotto", "question", "add", name.split()[0].lower(), question)
        for group in GROUPS:
            self.run("sotto", "device", "add", group, "--channels", ",".join([*CHANNELS, *DERIVED]))
        cloud = [self.programs / "sotto-cloud", "run", "--config", "plant/cloud.toml"]
        self.cloud = subprocess.Popen(cloud, cwd=self.folder, stderr=subprocess.DEVNULL)
        for _ in range(100):
            with socket.socket() as there:
                if there.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        sys.exit("the cloud does not start")

    def send(self, table):
        for group in GROUPS:
            with open(self.folder / f"{group}.csv", "w", newline="") as out:
                write = csv.writer(out)
                write.writerow(["time", *CHANNELS])
                for at, (quantity, price, discount, tax, of) in enumerate(table):
                    if of == group:
                        when = datetime.fromtimestamp(FIRST + at, timezone.utc).isoformat()
                        write.writerow([when, quantity, price / 100, discount / 100, tax / 100])
        begin = time.perf_counter()
        for group in GROUPS:
            self.run("sotto-agent", "run", "--bundle", f"{group}.bundle", "--csv", f"{group}.csv")
        return time.perf_counter() - begin

    def ask(self, question):
        begin = time.perf_counter()
        answer = json.loads(self.run("sotto", "ask", question, "--no-cache", "--json"))
        return time.perf_counter() - begin, answer["rows"]


def check(name, answer, truth):
    groups, revenue, counts = truth
    value = {(row.get("device"), row["name"]): row for row in answer}

    def near(device, result, expected):
        row = value[device, result]
        if abs(row["value"] - expected) > row["bound"] + 1e-12 * abs(expected):
            sys.exit(f"{name}: {result} of {device} is {row['value']}, not {expected}")

    if name == "Q1":
        for group, (quantity, price, discounted, charge, discount, count) in groups.items():
            near(group, "sum(quantity)", quantity)
            near(group, "sum(price)", price / 1e2)
            near(group, "sum(discounted)", discounted / 1e4)
            near(group, "sum(charge)", charge / 1e6)
            near(group, "mean(quantity)", quantity / count)
            near(group, "mean(price)", price / 1e2 / count)
            near(group, "mean(discount)", discount / 1e2 / count)
            near(group, "count(price)", count)
    elif name == "Q6":
        near(None, "sum(revenue)", revenue / 1e4)
    else:
        near(None, "count(quantity < 24)", counts[0])
        near(None, "count(0.05 <= discount <= 0.07)", counts[1])


def measure(count, programs):
    table = list(rows(count))
    with tempfile.TemporaryDirectory() as folder:
        plant = Plant(Path(folder), programs)
        plant.start()
        try:
            times = {"encrypt, sign, send, store": plant.send(table)}
            for name, question in QUESTIONS.items():
                asked = [plant.ask(question) for _ in range(3)]
                for _, answer in asked:
                    check(name, answer, exact(table))
                times[name] = sorted(seconds for seconds, _ in asked)[1]
        finally:
            plant.cloud.terminate()
            plant.cloud.wait()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bin", required=True, help="the folder of sotto, sotto-agent and sotto-cloud")
    parser.add_argument("--rows", default="4096,32768", help="numbers of rows, with commas")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    counts = [int(count) for count in given.rows.split(",")]
    results = {count: measure(count, given.bin) for count in counts}
    if given.json:
        print(json.dumps(results))
        return
    print("| seconds | " + " | ".join(f"{count:,} rows" for count in counts) + " |")
    print("| --- |" + " --- |" * len(counts))
    for name in results[counts[0]]:
        print(f"| {name} | " + " | ".join(f"{results[count][name]:.2f}" for count in counts) + " |")


if __name__ == "__main__":
    main()
