//! Invalid questions: the column of the caret and the suggested remedy.

use sotto_owner::question::limits;
use sotto_owner::question::{Question, QuestionError, QuestionErrorKind};

fn refused(text: &str) -> QuestionError {
    match Question::parse(text) {
        Err(refused) => refused,
        Ok(question) => panic!("{text} is read as {question}"),
    }
}

#[test]
fn each_error_points_at_its_place() {
    for (text, column, word) in [
        // Functions and channels.
        ("", 1, "empty"),
        ("  ", 3, "empty"),
        ("meen(x)", 1, "did you mean mean?"),
        ("Mean(x)", 1, "did you mean mean?"),
        ("stdev(x)", 1, "did you mean stddev?"),
        ("corelation(x, y)", 1, "did you mean correlation?"),
        ("xyz(x)", 1, "expected one of count, coverage, sum, mean"),
        ("mode(x)", 1, "histogram(x, 16)"),
        ("mean(x) > 3", 9, "count(x > 80)"),
        ("x > 80", 3, "sotto alarm add NAME"),
        ("sum(x >= 3)", 7, "count(x >= 80)"),
        ("count(x ! 3)", 9, "write !="),
        ("count(linear(m.json) = 3)", 22, "never equal"),
        ("count(x >)", 10, "a number, as in count(x > 80)"),
        ("count(80 < x)", 7, "count(60 <= x <= 79)"),
        ("count(79 >= x >= 60)", 7, "the smaller one first"),
        ("count(79 <= x <= 60)", 7, "the smaller one first"),
        ("count(60 < x < 60)", 7, "the smaller one first"),
        ("time(x >= 60 and x <= 79)", 8, "count(60 <= x <= 79)"),
        ("degree_days(x)", 14, "as in degree_days(x, below 18)"),
        ("degree_days(x, 18)", 16, "below or above"),
        ("degree_days(x, under 18)", 16, "below or above"),
        ("degree_days(x, below 18) by hour", 1, "whole days"),
        ("mean(x), degree_days(x, below 18) by weekday and hour of day", 10, "whole days"),
        ("degree_days(x, below 18) where time 06:00-18:00", 1, "whole days"),
        ("weighted_sum(x, [1, 2]), degree_days(x, below 18) by day", 1, "by itself"),
        ("hdd(x, 18)", 1, "did you mean degree_days?"),
        ("mean(x) offset", 15, "as in mean(x) offset 1w"),
        ("mean(x) offset 30m by hour", 16, "h, d, w, mo or y"),
        ("mean(x) offset 0d by day", 16, "from 1 to 10000"),
        ("mean(x) offset 1 w by day", 16, "offset 1w"),
        ("mean(x) offset last by day", 16, "previous"),
        ("mean(x) offset 1mo by week", 9, "take 1w, 52w or previous"),
        ("mean(x) offset 12h by day", 9, "take 1d, 1w, 1mo, 1y or previous"),
        ("2 * mean(x) offset 1h by 2h", 13, "whole groups"),
        ("mean(x) offset 1w by month", 9, "take 1mo, 1y or previous"),
        ("mean(x) offset 2mo by quarter", 9, "take 3mo"),
        ("mean(x) offset previous by window", 9, "take by hour"),
        ("mean(x) offset previous by hour of day", 9, "take by hour"),
        ("mean(x) offset 1w by weekday", 9, "take by hour"),
        ("moving_average(x, 3) offset 1w by day", 22, "has no offset"),
        ("weighted_sum(x, [1, 2]) offset 1w by day", 25, "has no offset"),
        ("histogram(x, 4) offset 1w by day", 1, "several values"),
        ("(mean(x) + 1) offset 1w by day", 15, "expected"),
        ("tariff(mean(x), t.toml)", 8, "mean(x) cannot be divided between prices"),
        ("tariff(sum(linear(m.json)), t.toml)", 8, "of a channel"),
        ("tariff(x, t.toml)", 8, "energy(x), sum(x)"),
        ("tariff(energy(x))", 17, "the file of a tariff"),
        ("tariff(energy(x), )", 19, "tariff.toml"),
        ("tariff energy(x)", 1, "write (energy(power), tariff.toml) after it"),
        ("tariff(energy(x), t.toml) offset 1w by day", 27, "during 2024-03"),
        ("cumulative(tariff(energy(x), t.toml)) by day", 12, "add up its rows"),
        ("tariff(energy(x), t.toml) by window", 27, "windows are whole"),
        ("tariff(energy(x), t.toml), last(x)", 28, "leave out the tariff"),
        ("tariff(energy(x), t.toml), degree_days(x, below 18) by day", 28, "leave out the tariff"),
        ("tarif(energy(x), t.toml)", 1, "did you mean tariff?"),
        ("cost(energy(x), t.toml)", 1, "did you mean tariff(energy(power), tariff.toml)?"),
        ("cumulative(mean(x) offset 1w) by day", 20, "')'"),
        ("cumulative(energy(x))", 1, "add by hour, by day"),
        ("2 * rate(sum(x)) by window", 5, "along groups"),
        ("difference(mean(x)) by weekday", 1, "leave out the groups that recur"),
        ("cumulative(x) by day", 12, "as in cumulative(mean(x))"),
        ("cumulative(cumulative(sum(x))) by day", 12, "takes one call"),
        ("cumulative(sum(x) + sum(y)) by day", 19, "arithmetic stands outside"),
        ("ewma(2) by day", 6, "as in ewma(mean(x), 0.3)"),
        ("ewma(mean(x)) by day", 13, "half_life 3d"),
        ("ewma(mean(x), 0) by day", 15, "above 0 up to 1"),
        ("ewma(mean(x), 3) by day", 15, "above 0 up to 1"),
        ("difference(regression(y ~ x)) by day", 12, "several values"),
        ("rate by day", 1, "rate is a function"),
        ("cumsum(sum(x)) by day", 1, "did you mean cumulative?"),
        ("derivative(sum(x)) by day", 1, "did you mean rate?"),
        ("cumulativ(sum(x)) by day", 1, "did you mean cumulative?"),
        ("ewm(mean(x), 0.3) by day", 1, "did you mean ewma?"),
        ("share(x)", 8, "as in share(x > 80)"),
        ("shere(x > 80)", 1, "did you mean share?"),
        ("count(x > y)", 11, "a number"),
        ("count(x > inf)", 11, "not a finite number"),
        ("count(polynomial(x, [0, 1] > 3)", 28, "between a reading and a number"),
        ("time(linear(m.json))", 20, "time(x > 80)"),
        ("linear(m.json) > 3", 16, "sotto alarm add"),
        ("max(polynomial(x, [0, 1]))", 5, "polynomial"),
        ("time(x)", 7, "time(x > 80)"),
        ("longest(x)", 10, "longest(x > 80)"),
        ("episodes(x) by day", 11, "episodes(x > 80)"),
        ("longest(linear(m.json) > 3)", 9, "only count, sum and mean"),
        ("longest(60 <= polynomial(x, [0, 1]) <= 79)", 9, "only count, sum and mean"),
        ("longest(79 <= x <= 60)", 9, "60 <= x <= 79"),
        ("episodes(x <= 79 <= 80)", 18, "between a reading and a number"),
        ("longst(x > 80)", 1, "did you mean longest?"),
        ("correlation(a of one, b)", 23, "the same device"),
        ("correlation(a, b of two)", 16, "the same device"),
        ("covariance(a of one, b of two) per device", 1, "leave out per device"),
        ("covariance(a of one, b of two) where tag in (c)", 32, "leave out where tag in"),
        ("degree_hours(x)", 15, "degree_hours(x, below 18)"),
        ("degree_hours(x, 18)", 17, "below or above"),
        ("degree_hours(x, under 18)", 17, "below or above"),
        ("degree_hour(x, below 18)", 1, "did you mean degree_hours?"),
        ("max(a - )", 9, "a channel"),
        ("max(a - b - c)", 11, "')'"),
        ("mean(a - b)", 8, "mean(a) - mean(b)"),
        ("interpolate(x, 3)", 16, "such as 90s"),
        ("interpolate(x) + 1", 1, "several values"),
        ("interpolat(x)", 1, "did you mean interpolate?"),
        ("spectrum(x)", 11, "spectrum(x, 8)"),
        ("spectrum(x, 1)", 13, "from 2 to 24"),
        ("lasst(x)", 1, "did you mean last?"),
        ("timeofmax(x)", 1, "did you mean time_of_max?"),
        ("quantile(x)", 11, "quantile(x, 0.95)"),
        ("quantile(x, 95)", 13, "from 0 to 1"),
        ("quantile(x, -0.1)", 13, "from 0 to 1"),
        ("median(x, 1)", 9, "expected ')'"),
        ("histogram(x)", 12, "histogram(x, 16)"),
        ("histogram(x, 1)", 14, "from 2 to 1024"),
        ("histogram(x, 1025)", 14, "from 2 to 1024"),
        ("histogram(x, 2.5)", 14, "from 2 to 1024"),
        ("histogram(x, [1])", 14, "ascending order"),
        ("histogram(x, [1, 1])", 14, "ascending order"),
        ("histogram(x, 16) * 2", 1, "count one bin"),
        ("mean", 1, "mean is a function: write (x)"),
        ("correlation, mean(x)", 1, "write (x, y)"),
        ("temperature", 1, "such as mean(temperature)"),
        ("mean(x) + \"a b\"", 11, "mean(\"a b\")"),
        ("mean(variance(x))", 6, "only count, sum and mean"),
        ("variance(polynomial(x, [1, 2]))", 10, "only count, sum and mean"),
        ("mean(a + b)", 8, "mean(a) - mean(b)"),
        ("mean(flow-rate)", 10, "in \"quotes\""),
        ("mean(x)^2", 8, "mean(x) * mean(x)"),
        ("mean('x')", 6, "double quotes"),
        ("linear(my model.json)", 11, "\"quotes\""),
        ("mean(x, y)", 7, "expected ')', found ','"),
        ("mean()", 6, "expected a channel, found ')'"),
        ("mean(7)", 6, "expected a channel, found a number"),
        ("mean(by)", 6, "write it in quotes"),
        ("mean(\"\")", 6, "the name is empty"),
        ("mean(\"x)", 6, "not closed"),
        ("mean(\"x\ny\")", 8, "control characters"),
        (r#"mean("x\ny")"#, 9, "backslash"),
        ("mean(é)", 6, "found 'é'"),
        ("mean(x", 7, "found the end"),
        ("covariance(x)", 13, "second channel"),
        ("regression(y, x)", 13, "regression(y ~ x)"),
        ("mean(x) ~ 2", 9, "an operator"),
        // Lists and numbers.
        ("weighted_sum(x)", 15, "weighted_sum(x, [1, 2])"),
        ("weighted_sum(x, 3)", 17, "weights in brackets"),
        ("weighted_sum(x, [])", 18, "a number"),
        ("weighted_sum(x, [0, -0])", 17, "all weights are 0"),
        ("weighted_sum(x, [1 2])", 20, "',' or ']'"),
        ("weighted_sum(x, [NaN])", 18, "not a finite number"),
        ("weighted_sum(x, [1, 1e999])", 21, "too large"),
        ("weighted_sum(x, half_life 6)", 27, "such as 90s"),
        ("polynomial(x, [1])", 15, "2 to 9"),
        ("polynomial(x, [1,2,3,4,5,6,7,8,9,10])", 34, "more than 9 coefficients"),
        ("moving_average(x, 1) by day", 19, "from 2 to 1000"),
        ("moving_average(x, 1001) by day", 19, "from 2 to 1000"),
        ("moving_average(x, 2.5) by day", 19, "from 2 to 1000"),
        ("moving_average(x, -2) by day", 19, "from 2 to 1000"),
        ("mean(x), 2 * moving_average(x, 7)", 14, "add by hour"),
        ("moving_average(x, 7) by window", 1, "add by hour"),
        ("linear()", 8, "linear(model.json)"),
        ("linear(m.json, 2)", 14, "expected ')'"),
        // Arithmetic.
        ("1 + 2", 1, "no statistic"),
        ("mean(x), 3", 10, "no statistic"),
        ("mean(x) +", 10, "found the end"),
        ("(mean(x)", 9, "or ')'"),
        ("mean(x) / 0", 11, "division by zero"),
        ("mean(x) / (-0.0)", 11, "division by zero"),
        ("mean(x) / (2 * (1 - 1))", 11, "division by zero"),
        ("inf * mean(x)", 1, "not a finite number"),
        ("2 * regression(y ~ x)", 5, "gives several values"),
        ("mean(x) + polynomial(x, [1, 2])", 11, "mean(polynomial(…))"),
        ("-linear(m.json)", 2, "mean(linear(…))"),
        ("mean(x) as", 11, "a name for the result"),
        ("mean(x) as where", 12, "in quotes"),
        ("mean(x), mean( x )", 10, "two results are called mean(x)"),
        ("mean(x) as a, sum(x) as a", 25, "another name"),
        // Clauses.
        ("mean(x) bye day", 9, "did you mean by?"),
        ("mean(x) Since 2014-01-01", 9, "did you mean since?"),
        ("mean(x) from 2014-01-01", 9, "did you mean since?"),
        ("mean(x) grouped", 9, "a clause (over, during, since"),
        ("mean(x), by day", 10, "a function such as"),
        ("mean(x) by", 11, "window, hour, day, week, month, quarter, year"),
        ("mean(x) by days", 12, "did you mean day?"),
        ("mean(x) by minute", 12, "found minute; did you mean 1m?"),
        ("mean(x) by quartr", 12, "did you mean quarter?"),
        ("mean(x) by yearly", 12, "did you mean year?"),
        ("mean(x) during tomorrow", 16, "today, yesterday, this or last week"),
        ("mean(x) during 2024-Q5", 16, "today, yesterday, this or last week"),
        ("mean(x) during", 15, "today, yesterday, this or last week"),
        ("mean(x) during today over 7d", 22, "over and during exclude each other"),
        ("mean(x) since 2024-01-01 during today", 26, "during and since exclude each other"),
        ("mean(x) during today during today", 22, "a second during clause"),
        ("mean(x) durng today", 9, "did you mean during?"),
        ("mean(x) yesterday", 9, "did you mean during?"),
        ("mean(during)", 6, "during is a word of the language"),
        ("mean(x) by wekday", 12, "did you mean weekday?"),
        ("mean(x) by weekday and weekday", 24, "two different ones"),
        ("mean(x) by weekday and hour", 24, "did you mean hour of day?"),
        ("mean(x) by weekday and", 23, "hour of day, weekday or month of year"),
        ("mean(x) by weekday and 7", 24, "hour of day, weekday or month of year"),
        ("mean(x) by hour of", 17, "clause"),
        ("moving_average(x, 3) by weekday", 1, "needs a time without gaps: leave out the groups that recur"),
        ("mean(x), weighted_sum(x, half_life 2h) by weekday", 10, "needs a time without gaps"),
        ("weighted_sum(x, [1, 2]) by day where time 22:00-06:00", 1, "leave out the condition on the time"),
        ("mean(x) by window where time 22:00-06:00", 25, "windows are whole"),
        ("mean(x) where tag in ()", 23, "a tag"),
        ("mean(x) where tag in (a, a)", 26, "comes twice"),
        ("mean(x) where tag in (a) and tag in (b)", 30, "second tag in"),
        ("mean(x) where tags in (a)", 15, "did you mean tag in?"),
        ("mean(x) per tag by tag", 17, "a second by tag"),
        ("mean(x) by tag per device", 16, "exclude each other"),
        ("mean(x) by hour of day and tag", 28, "by day per tag"),
        ("mean(x) by tags", 12, "did you mean tag?"),
        ("mean(x of)", 10, "a device, as in x of boiler"),
        ("mean(x of all)", 14, "of all devices"),
        ("mean(x of tag)", 14, "a tag"),
        ("mean(x of \"tag\" y)", 17, "expected ')'"),
        ("covariance(x of a, y)", 20, "of the same device"),
        ("mean(linear(m.json of a))", 20, "expected ')'"),
        ("mean(x of a) per device", 14, "leave it out"),
        ("mean(x of a) per tag", 14, "leave it out"),
        ("mean(x of a) where device in (a)", 14, "leave it out"),
        ("mean(x) where date", 19, "expected in"),
        ("mean(x) where dates in (2024-01-01)", 15, "did you mean date in?"),
        ("mean(x) where holidays in h.txt", 15, "did you mean date in?"),
        ("mean(x) where date in ()", 24, "a date, as 2024-12-25"),
        ("mean(x) where date in (2024-02-30)", 24, "2024-02-30 is no date"),
        ("mean(x) where date in (25.12.2024)", 24, "25.12.2024 is no date"),
        ("mean(x) where date in (2025-01-01..2024-12-24)", 24, "exchange the two dates"),
        ("mean(x) where date in (2024-01-01, 2024-01-01)", 36, "comes twice"),
        ("mean(x) where date in a.txt and date in b.txt", 33, "second date in"),
        ("mean(x) by window where date in a.txt", 25, "windows are whole"),
        ("weighted_sum(x, [1, 2]) where date in a.txt", 1, "leave out the condition on the time"),
        ("top 0 devices of mean(x)", 5, "from 1 to 1000"),
        ("top 1001 devices of mean(x)", 5, "from 1 to 1000"),
        ("top -3 devices of mean(x)", 5, "from 1 to 1000"),
        ("top 3 mean(x)", 7, "expected devices"),
        ("top 3 devices mean(x)", 15, "expected of"),
        ("top 3 devices of regression(y ~ x)", 18, "give no order"),
        ("top 3 devices of mean(x) across devices", 26, "exclude each other"),
        ("top 3 devices of mean(x of a)", 30, "says nothing"),
        ("top(3, x)", 1, "top 3 devices of mean(x)"),
        ("mean(x) where device in ($room)", 26, "$room is a parameter"),
        ("mean(x) where", 14, "device in (…), tag in (…), time 22:00-06:00"),
        ("mean(x) where tme 22:00-06:00", 15, "did you mean time?"),
        ("mean(x) where day in (sat)", 15, "did you mean weekday in?"),
        ("mean(x) where time 22:00", 20, "a time of day"),
        ("mean(x) where time 24:00-06:00", 20, "a time of day"),
        ("mean(x) where time 06:00-06:00", 20, "a time of day"),
        ("mean(x) where time 06:00-07:00 and time 08:00-09:00", 36, "a second time clause"),
        ("mean(x) where weekday in (sat, sturday)", 32, "did you mean saturday?"),
        ("mean(x) where weekday in (sat, saturday)", 32, "saturday comes twice"),
        ("mean(x) where weekday in ()", 27, "a weekday"),
        ("mean(x) where weekday sat", 23, "in"),
        ("mean(x) where month in (13)", 25, "a month"),
        ("mean(x) where month in (1, 1)", 28, "1 comes twice"),
        ("mean(x) by 7m", 12, "groups of 7m would not begin at the same times every day"),
        ("mean(x) by 3d", 12, "groups of 3d would not begin at the same times every day"),
        ("mean(x) by 15", 12, "a duration"),
        ("mean(x) by 0m", 12, "a duration"),
        ("mean(x) by month from 31", 23, "from 1 to 28"),
        ("mean(x) by month from 0", 23, "from 1 to 28"),
        ("mean(x) by month from", 22, "from 1 to 28"),
        ("mean(x) by 5000000000w", 12, "a duration"),
        ("mean(x) by day by hour", 16, "a second by clause"),
        ("mean(x) by day, hour", 15, "a clause (over"),
        ("mean(x) over", 13, "such as 90s"),
        ("mean(x) over 0d", 14, "such as 90s"),
        ("mean(x) over 7", 14, "such as 90s"),
        ("mean(x) over 7 d", 14, "such as 90s"),
        ("mean(x) over 1.5h", 14, "such as 90s"),
        ("mean(x) over 7y", 14, "such as 90s"),
        ("mean(x) over 4294967296s", 14, "such as 90s"),
        ("mean(x) over 7d over 8d", 17, "a second over clause"),
        ("mean(x) over 7d since 2014-01-01", 17, "since and over exclude each other"),
        ("mean(x) until 2014-01-01 over 7d", 26, "over and until exclude each other"),
        ("mean(x) since 2014-01-01 since 2015-01-01", 26, "a second since clause"),
        ("mean(x) since yesterday", 15, "expected a moment"),
        ("mean(x) since 2014-1-1", 15, "expected a moment"),
        ("mean(x) since 2014-13-01", 15, "expected a moment"),
        ("mean(x) since 2014-00-01", 15, "expected a moment"),
        ("mean(x) since 2014-02-29", 15, "expected a moment"),
        ("mean(x) since 1900-02-29", 15, "expected a moment"),
        ("mean(x) since 2014-04-31", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T24:00", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T12:60", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T12:30:60", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T12", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T", 15, "expected a moment"),
        ("mean(x) until 2014-01-01Z", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T12:30+2", 15, "expected a moment"),
        ("mean(x) until 2014-01-01T12:30ZZ", 15, "expected a moment"),
        ("mean(x) until \"2014-01-01 12:30\"", 15, "expected a moment"),
        ("mean(x) since 2014-01-01 12:30", 26, "2014-01-01T12:30"),
        ("mean(x) per day", 13, "did you mean by day?"),
        ("mean(x) shared by day shared", 23, "a second shared clause"),
        ("mean(shared)", 6, "to use it as a name, write it in quotes"),
        ("mean(x) as shared", 12, "to use it as a name, write it in quotes"),
        ("mean(x) where device in (shared)", 26, "to use it as a name, write it in quotes"),
        ("mean(x) share", 9, "did you mean shared?"),
        ("shared", 1, "expected a function"),
        ("mean(x) per devices", 13, "expected device, found devices"),
        ("mean(x) across device", 16, "expected devices"),
        ("mean(x) per device across devices", 20, "across devices and per device exclude"),
        ("mean(x) across devices per device", 24, "per device and across devices exclude"),
        ("mean(x) per device per device", 20, "a second per device"),
        ("mean(x) where x", 15, "expected device"),
        ("mean(x) where device = a", 22, "where device in (a, b)"),
        ("mean(x) where device in a", 25, "'(' and devices"),
        ("mean(x) where device in ()", 26, "expected a device"),
        ("mean(x) where device in (7a)", 26, "in quotes"),
        ("mean(x) where device in (a-7)", 27, "\"quotes\""),
        ("mean(x) where device in (a, b, a)", 32, "the device a comes twice"),
        ("mean(x) where device in (a) where device in (b)", 29, "a second where clause"),
    ] {
        let refused = refused(text);
        let message = refused.to_string();
        assert_eq!(refused.column, column, "{text}\n{message}");
        assert!(message.contains(word), "{text}: expected {word:?}\n{message}");
        assert_eq!(text[..refused.offset].chars().count() + 1, column, "{text}");
    }
}

#[test]
fn the_caret_stands_under_the_character() {
    assert_eq!(
        refused("mean(x) over 7d over 8d").to_string(),
        "column 17: a second over clause: keep one of them\n    mean(x) over 7d over 8d\n                    ^"
    );
}

fn repeated(part: &str, between: &str, count: usize) -> String {
    vec![part; count].join(between)
}

#[test]
fn limits_hold_and_are_reached() {
    let results = |count: usize| {
        let all: Vec<String> = (0..count).map(|index| format!("mean(c{index})")).collect();
        all.join(", ")
    };
    let devices = |count: usize| {
        let all: Vec<String> = (0..count).map(|index| format!("d{index}")).collect();
        format!("mean(x) where device in ({})", all.join(", "))
    };
    let weights = |count| format!("weighted_sum(x, [{}])", repeated("1", ",", count));
    let nested = |count| format!("{}mean(x){}", "(".repeat(count), ")".repeat(count));
    let chain = |operators| repeated("mean(x)", "+", operators);
    let signs = |count| format!("{}mean(x)", "-".repeat(count));
    let right = |count| format!("{}mean(x){}", "1-(".repeat(count), ")".repeat(count));
    let calls = |count: usize| {
        let half = |from: usize, to: usize, sign: &str| {
            (from..to)
                .map(|index| format!("({})", chain(8) + sign + &format!("sum(c{index})")))
                .collect::<Vec<_>>()
        };
        let mut all = half(0, count / 9, "-").chunks(9).map(|part| part.join("*")).collect::<Vec<_>>();
        all.extend((0..count % 9).map(|index| format!("rms(r{index})")));
        all.join(", ")
    };
    let name = |bytes| format!("mean({})", "x".repeat(bytes));
    let file = |bytes| format!("linear({})", "x".repeat(bytes));
    let long = |bytes: usize| format!("mean(x){}", " ".repeat(bytes - 7));

    for (allowed, over, word) in [
        (results(limits::SELECTED), results(limits::SELECTED + 1), "512 selected expressions"),
        (devices(limits::DEVICES), devices(limits::DEVICES + 1), "64 devices"),
        (weights(limits::WEIGHTS), weights(limits::WEIGHTS + 1), "4096 weights"),
        (nested(limits::NESTING), nested(limits::NESTING + 1), "64 nested parentheses"),
        (chain(limits::QUESTION_DEPTH), chain(limits::QUESTION_DEPTH + 1), "56 operators"),
        (signs(limits::QUESTION_DEPTH - 1), signs(limits::QUESTION_DEPTH), "56 operators"),
        (right(limits::QUESTION_DEPTH - 1), right(limits::QUESTION_DEPTH), "56 operators"),
        (calls(limits::CALLS), calls(limits::CALLS + 1), "1024 calls"),
        (name(limits::NAME_BYTES), name(limits::NAME_BYTES + 1), "65 bytes"),
        (file(limits::FILE_NAME_BYTES), file(limits::FILE_NAME_BYTES + 1), "257 bytes"),
        (long(limits::QUESTION_BYTES), long(limits::QUESTION_BYTES + 1), "65537 bytes"),
    ] {
        let question = Question::parse(&allowed).unwrap_or_else(|refused| panic!("{word}: {refused}"));
        let json = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&json).unwrap(), question, "{word}");
        let message = refused(&over).to_string();
        assert!(message.contains(word), "{message}");
    }
    // The limits are checked before anything recurses.
    for text in ["(".repeat(60_000), "-".repeat(60_000), repeated("1", "-", 30_000)] {
        let kind = refused(&text).kind;
        assert!(matches!(kind, QuestionErrorKind::Nesting | QuestionErrorKind::Depth), "{kind}");
    }
}

/// Threads of services have 2 MiB of stack at least.
#[test]
fn the_deepest_question_fits_the_stack_of_a_thread() {
    let deepest = |open: &str, close: &str| {
        let text = format!(
            "{}cumulative(energy(x)){} by day",
            open.repeat(limits::NESTING),
            close.repeat(limits::NESTING)
        );
        let read = std::thread::Builder::new().stack_size(1 << 20);
        read.spawn(move || Question::parse(&text).map(|question| question.to_string()))
            .unwrap()
            .join()
            .unwrap()
    };
    assert_eq!(deepest("(", ")").unwrap(), "cumulative(energy(x)) by day");
    assert!(deepest("-(", ")").is_err(), "more operators than a question has");
}
