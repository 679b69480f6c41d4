#!/usr/bin/env python3
"""Hours and money that sums over a store take on some machines: a simulation of the lake, fed by its measured rates.

    python3 lab/scale/cost.py [--readings 1e9,1e12] [--machines 1,10,100] [--ticks 60] [--json]

A query divides its blocks (2,048 windows each) among the cores of all machines at its begin, as datafusion-distributed does. A
core fetches and adds up its blocks one after the other; the slowest core decides. A machine that dies ends the query, which is
asked again. Rates are those of `cargo bench --bench lake` on one core (docs/guides/scale-out.md#costs); prices, the bucket's speed
and the machines' faults are assumptions: name your own.
"""

import argparse
import json
import math
import random
import statistics
import sys

BLOCK = 2048

# Processor time of one core, fitted to 10^8 readings in windows of 60 (2.37 s) and of 600 (0.78 s).
WINDOW_SECONDS = 1.06e-6
READING_SECONDS = 6.0e-9
# Blocks are many: cores with more than these draw the sum of their times at once, as a normal variable.
MANY = 200


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--readings", default="1e9,1e12", help="numbers of readings, with commas")
    parser.add_argument("--machines", default="1,10,100", help="numbers of machines, with commas")
    parser.add_argument("--ticks", type=int, default=60, help="readings of a window")
    parser.add_argument("--cores", type=int, default=4, help="cores of a machine")
    parser.add_argument("--window-seconds", type=float, default=WINDOW_SECONDS, help="processor time a window")
    parser.add_argument("--reading-seconds", type=float, default=READING_SECONDS, help="processor time a reading")
    parser.add_argument("--bytes", type=float, default=3.2, help="bytes a reading in the bucket")
    parser.add_argument("--bandwidth", type=float, default=100e6, help="bytes a second from the bucket, for each machine")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before a block's first byte")
    parser.add_argument("--spread", type=float, default=0.3, help="standard deviation of the logarithm of a block's time")
    parser.add_argument("--begin", type=float, default=2.0, help="seconds until workers have their plans")
    parser.add_argument("--faults", type=float, default=1e-3, help="deaths of a machine in an hour")
    parser.add_argument("--hour", type=float, default=0.20, help="price of a machine for an hour")
    parser.add_argument("--million", type=float, default=0.40, help="price of a million requests to the bucket")
    parser.add_argument("--runs", type=int, default=200, help="simulated queries for each row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="compare the simulation with what can be computed, and end")
    return parser.parse_args()


def adding_and_fetching(given):
    """Seconds of a core to add a block up, and until its bytes have come."""
    readings = BLOCK * given.ticks
    add = BLOCK * given.window_seconds + readings * given.reading_seconds
    return add, given.latency + readings * given.bytes * given.cores / given.bandwidth


def block_seconds(given):
    """Seconds of a block on one core: its bytes come while the block before is added up."""
    return max(adding_and_fetching(given))


def core_seconds(given, blocks, mean, random_):
    """Seconds of a core that has so many blocks, each with a logarithm that is normal and a mean of `mean`."""
    if given.spread == 0:
        return blocks * mean
    variance = mean * mean * (math.exp(given.spread**2) - 1)
    if blocks > MANY:
        return max(0.0, random_.gauss(blocks * mean, math.sqrt(blocks * variance)))
    shift = math.log(mean) - given.spread**2 / 2
    return sum(random_.lognormvariate(shift, given.spread) for _ in range(blocks))


def query(given, readings, machines, random_):
    """Seconds of one query until it is answered, and how often it was asked."""
    blocks = math.ceil(readings / (BLOCK * given.ticks))
    cores = machines * given.cores
    mean, asked, spent = block_seconds(given), 0, 0.0
    while True:
        asked += 1
        # The first `rest` cores have one block more.
        each, rest = divmod(blocks, cores)
        shares = [each + (core < rest) for core in range(cores)]
        seconds = given.begin + max(core_seconds(given, share, mean, random_) for share in shares)
        death = random_.expovariate(machines * given.faults / 3600) if given.faults > 0 else math.inf
        if death >= seconds:
            return spent + seconds, asked
        spent += death


def row(given, readings, machines):
    random_ = random.Random(given.seed)
    runs = [query(given, readings, machines, random_) for _ in range(given.runs)]
    seconds = statistics.mean(seconds for seconds, _ in runs)
    asked = statistics.mean(asked for _, asked in runs)
    requests = asked * math.ceil(readings / (BLOCK * given.ticks))
    price = seconds / 3600 * machines * given.hour + requests / 1e6 * given.million
    return {"readings": readings, "machines": machines, "seconds": seconds, "asked": asked, "price": price}


def check(given):
    """Without spread and faults a query takes what a division gives; more machines are never slower."""
    given.spread, given.faults, given.runs = 0, 0, 1
    for readings in (1e6, 1e9, 1e12):
        times = []
        for machines in (1, 10, 100):
            found = row(given, readings, machines)["seconds"]
            blocks = math.ceil(readings / (BLOCK * given.ticks))
            expected = given.begin + math.ceil(blocks / (machines * given.cores)) * block_seconds(given)
            assert math.isclose(found, expected), (readings, machines, found, expected)
            times.append(found)
        assert times == sorted(times, reverse=True), times
    given.spread, given.runs = 0.3, 50
    few, many = core_seconds_mean(given, MANY), core_seconds_mean(given, MANY + 1)
    assert abs(few * (MANY + 1) / MANY / many - 1) < 0.02, (few, many)
    given.faults = 10.0
    assert row(given, 1e9, 10)["asked"] >= 1
    print("the simulation is as computed")


def core_seconds_mean(given, blocks):
    random_ = random.Random(given.seed)
    return statistics.mean(core_seconds(given, blocks, 1.0, random_) for _ in range(given.runs))


def shown(seconds):
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def main():
    given = arguments()
    if given.check:
        return check(given)
    numbers = [float(number) for number in given.readings.split(",")]
    machines = [int(number) for number in given.machines.split(",")]
    rows = [row(given, readings, of) for readings in numbers for of in machines]
    if given.json:
        return json.dump(rows, sys.stdout, indent=1)
    add, fetch = adding_and_fetching(given)
    print(f"a block of {BLOCK} windows of {given.ticks}: {add * 1e3:.1f} ms to add, {fetch * 1e3:.1f} ms to fetch\n")
    print("| readings | machines | time | asked | price |")
    print("| --- | --- | --- | --- | --- |")
    for one in rows:
        print(
            f"| {one['readings']:.0e} | {one['machines']} | {shown(one['seconds'])} | {one['asked']:.2f} times"
            f" | {one['price']:.2f} |"
        )
    return None


if __name__ == "__main__":
    main()
