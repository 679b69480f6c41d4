"""Questions of the owner, their plans, answers and refusals."""

import shlex

EXACT = (
    "count(temperature)",
    "sum(temperature)",
    "mean(temperature)",
    "avg(humidity)",
    "variance(temperature)",
    "stddev(temperature)",
    "rms(temperature)",
    "energy(temperature)",
    "covariance(temperature, humidity)",
    "correlation(temperature, humidity)",
    "regression(humidity ~ temperature)",
    "regression(temperature ~ humidity)",
    "weighted_sum(temperature, [1, 2, 3.5])",
    "weighted_sum(temperature, half_life 6h)",
    "moving_average(temperature, 3)",
    "count(temperature > 50)",
    "count(temperature <= 48)",
    "count(temperature >= 47.3)",
    "time(temperature < 50)",
    "min(temperature)",
    "max(temperature)",
    "quantile(temperature, 0.95)",
    "median(temperature)",
    "histogram(temperature, 7)",
    "histogram(temperature, [0, 40, 45.5, 60])",
    "max(temperature) - min(temperature) as span",
    "mean(temperature) / stddev(temperature)",
    "mean(temperature) * count(temperature) - 3",
    "mean(temperature) / (mean(temperature) - mean(temperature))",
)


def asking(house):
    """Every function of the language, over all clauses."""
    for function in EXACT:
        by = "" if "moving" not in function else " by day"
        for clause in (by, " by day per device" if "moving" not in function else " by week per device"):
            house.run("ask-exact", f"sotto ask '{function}{clause}' --no-keep")
        house.run("ask-exact-json", f"sotto ask '{function}{by}' --no-keep --json")
    house.run(
        "ask-exact-json",
        "sotto ask 'mean(temperature), correlation(temperature, humidity), max(temperature), "
        "histogram(temperature, 7) by day per device' --no-keep --json",
    )
    two = "mean(temperature), stddev(temperature)"
    for clauses in (
        "by hour since 2010-03-14 until 2010-03-15",
        "by window where device in (boiler)",
        "by day",
        "by week",
        "by month",
        "over 2d",
        "over 36h by day",
        "across devices",
        "per device",
        "since 2010-03-13",
        "until 2010-03-15",
        "since 2010-03-13T12:00 until 2010-03-15T00:00:00-07:00 by day",
        "where device in (boiler, tank) per device",
        "where device in (legacy) by day",
        "shared by day",
        "since 2011-01-01",
        "by month per device over 4d",
    ):
        house.both("ask-clauses", f"sotto ask '{two} {clauses}' --no-keep")
    house.run("ask-clauses", f"sotto ask '{two} by day' --since 2010-03-13 --until 2010-03-15 --no-keep --explain")
    house.run("ask-clauses", f"sotto ask '{two} by hour' --since 2010-03-13 --until 2010-03-15 --no-keep --plot")
    house.run(
        "ask-clauses", f"sotto ask '{two}, histogram(temperature, 7) by day' --no-keep --html page.html --explain"
    )
    house.file("ask-clauses", "page.html")
    for name in ("daily", "pairs", "bins", "swing"):
        house.both("ask-declared", f"sotto ask {name} --no-keep")
    for function in ("energy(flow)", "sum(flow)", "moving_average(flow, 2)", "max(flow)", "weighted_sum(flow, [1, 2])"):
        house.run("ask-declared", f"sotto ask '{function} by hour' --no-keep")
    house.both("ask-declared", "sotto ask daily --plant fleet --no-keep")
    for clauses in ("", " by day per device", " where device in (ant, fly)", " by hour over 6h"):
        house.both("ask-declared", f"sotto ask 'mean(load), sum(load){clauses}' --plant fleet --no-keep")
    for function in (
        "count(level > 12.25)",
        "min(level), max(level), median(level)",
        "histogram(level, [0, 10, 15, 50])",
        "time(level <= 12)",
        "mean(level)",
    ):
        house.both("ask-comparable", f"sotto ask '{function} by day' --no-keep")
    for function in (
        "polynomial(temperature, [1, 0.5, 0.01]) where device in (boiler) until 2010-03-13",
        "mean(polynomial(temperature, [1, 0.5, 0.01])) per device",
        "sum(polynomial(temperature, [1, 0.5, 0.01])) by day where device in (tank)",
        "mean(polynomial(temperature, [0, 1, 2]))",
        "linear(model.json) where device in (legacy)",
        "mean(linear(model.json)) by day per device",
        "count(linear(model.json) > 16) by day",
        "time(polynomial(temperature, [1, 0.5, 0.01]) > 45) per device",
        "mean(linear(model.json)) shared",
    ):
        house.both("ask-approximate", f"sotto ask '{function}' --no-keep")
    house.run("ask-approximate", "sotto ask curve --no-keep --json")


def refusing(house):
    """Questions and words that are refused."""
    for question in (
        "mean(temprature) by day",
        "mode(temperature)",
        "temperature > 80",
        "mean(temperature) by fortnight",
        "mean(temperature",
        "",
        "mean(temperature) + mean(humidity)",
        "mean(temperature) / 0",
        "mean(temperature) where device in (kettle)",
        "mean(linear(missing.json))",
        "nothing",
        "level",
        "covariance(temperature, flow) by day",
        "moving_average(temperature, 3)",
        "mean(temperature) over 7d since 2025-01-01",
        "mean(temperature) since 2025-13-01",
        "variance(flow) by hour",
        "mean(flow) by minute",
        "covariance(temperature, level)",
        "quantile(temperature, 1.5)",
        "histogram(temperature, 0)",
        "histogram(temperature, [5, 1])",
        "weighted_sum(temperature, [])",
        "weighted_sum(temperature, half_life x)",
        "regression(temperature, humidity)",
        "mean(temperature) by day by week",
        "mean(temperature) as 1x",
        "mean(temperature, humidity)",
        "linear(7)",
        "count(temperature = 3)",
        "range(temperature)",
        "increase(flow)",
        "polynomial(temperature, [1])",
    ):
        house.both("ask-refused", f"sotto ask {shlex.quote(question)} --no-keep")
    for line in (
        "sotto ask",
        "sotto ask daily --plant nowhere",
        "sotto ask daily --since yesterday",
        "sotto ask daily --unknown",
        "sotto ask daily --html /nowhere/page.html --no-keep",
    ):
        house.run("ask-refused", line)


def planning(house):
    house.run("plan", "sotto plan daily")
    for text in (
        "daily",
        "pairs",
        "bins",
        "model",
        "swing",
        "mean(level) by day",
        "count(level > 3) by day",
        "mean(linear(model.json)) shared by day",
        "nothing",
    ):
        house.run("plan", f"sotto plan '{text}' --json")
    for scheme in ("bfv", "bgv", "ckks"):
        house.run("plan", f"sotto plan 'sum(x*x)' --scheme {scheme}")
        house.run("plan", f"sotto plan 'x*y + 3' --scheme {scheme} --two-keys --json")
        house.run("plan", f"sotto plan 'sum(x)' --scheme {scheme} --public-key --magnitude 100 --width 8 --json")
    house.run("plan", "sotto plan 'sum(x' --scheme bfv")


def owner(house):
    """Commands of the owner on the kept plant that read, or write answers only."""
    names = sorted(path.stem for path in (house.folder / "plant/answers").glob("*.json"))
    house.both("status", "sotto status")
    house.both("status", "sotto status --plant fleet")
    named = house.environment.pop("SOTTO_PLANT")
    house.run("status", "sotto status")
    house.environment["SOTTO_PLANT"] = named
    for command in ("channel", "question", "device", "alarm"):
        house.both("lists", f"sotto {command} list")
    for alarm in ("warm", "damp", "nothing"):
        house.both("alarms", f"sotto alarm show {alarm}")
    house.run("alarms", "sotto alarm test warm")
    house.run("alarms", "sotto alarm test damp")
    house.both("answers", "sotto answers")
    for name in names:
        house.both("answers", f"sotto answers {name}")
        house.run("answers", f"sotto verify {name}")
        house.run("answers", f"sotto verify {name} --json")
    house.run("answers", f"sotto answers {names[0]} --plot")
    house.run("answers", f"sotto answers {names[0]} --html kept.html")
    house.file("answers", "kept.html")
    house.run("answers", "sotto answers nothing")
    house.run("answers", "sotto verify nothing")
    house.run("answers", "sotto verify --sample 2")
    house.run("answers", f"sotto verify {names[0]} --save saved")
    house.run("answers", "sotto verify --from saved")
    house.run("answers", "sotto verify --from saved --json")
    house.run("answers", "sotto verify --from nowhere")
    for more in ("", " --json", " --csv", " --round 1", " --flood", " --out published.txt"):
        house.run("answers", f"sotto publish {names[2]}{more}")
    house.run("answers", f"sotto publish {names[3]}")
    house.run("answers", "sotto publish nothing")
    house.both("cloud-keys", "sotto cloud show")
    house.run("cloud-keys", "sotto cloud pin nothing")
    house.run("cloud-keys", "sotto cloud pin " + "0" * 64)
    house.run("cloud-keys", "sotto cloud show")
    house.run("cloud-keys", "sotto cloud accept nobody")
    house.run("cloud-keys", "sotto cloud accept boiler")


def keeping(house):
    """Answers that are kept, and verified."""
    house.run("keeping", "sotto ask daily")
    house.run("keeping-approximate", "sotto ask 'mean(linear(model.json)) per device'")
    house.run("keeping", "sotto verify")
    house.run("keeping", "sotto verify --json")
    house.run("keeping", "sotto answers")
