//! Tables over a definition's schemes and parameter sets: schemes side by side, slowdown against plain numbers, a grid.

use sotto_chart::escape;

use super::distinct;
use super::format::{bytes, duration};
use crate::definition::{Definition, Scheme};
use crate::row::Row;

/// A definition with more parameter sets than this gets a grid of them.
const FEW_SETS: usize = 3;
/// The scheme of measurements on plain numbers.
const CLEAR: &str = "clear";

/// Returns the tables above a definition's groups.
pub(super) fn tables(definition: &Definition, rows: &[&Row]) -> String {
    let mut text = String::new();
    if definition.across {
        text += &slowdown(rows);
        // Side by side if each size has one parameter set: key lengths and sweeps have their own tables.
        let sets = distinct(rows, |row| (row.scheme.as_str(), row.n, row.parameters.as_str())).len();
        let sizes = distinct(rows, |row| (row.scheme.as_str(), row.n)).len();
        if sets == sizes && rows.iter().all(|row| row.engine == rows[0].engine) {
            text += &side_by_side(rows);
        }
    } else if distinct(rows, |row| row.parameters.as_str()).len() > FEW_SETS {
        // Parameter sets with `values` have their own table.
        let is_of_grid = |row: &&&Row| {
            !definition.parameters.iter().any(|set| set.values.is_some() && set.name == row.parameters)
        };
        text += &grid(&rows.iter().filter(is_of_grid).copied().collect::<Vec<_>>());
    }
    text
}

fn table(heads: &[String], body: &str) -> String {
    let heads: String = heads.iter().map(|head| format!("<th>{}</th>", escape(head))).collect();
    format!("<div class=\"wide\"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>")
}

/// Returns a table for each n: a row for each operation, a column for each scheme.
fn side_by_side(rows: &[&Row]) -> String {
    let mut sizes = distinct(rows, |row| row.n);
    sizes.sort_unstable();
    let one = |n: usize| {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.n == n).collect();
        let schemes = distinct(&of, |row| row.scheme.as_str());
        let body: String = distinct(&of, Row::label)
            .into_iter()
            .map(|operation| {
                let cell = |scheme: &&str| {
                    let row = of.iter().find(|row| row.scheme == **scheme && row.label() == operation);
                    row.map_or("<td>–</td>".to_owned(), |row| {
                        let size = row.bytes.filter(|_| row.object.is_some());
                        let told = size.map_or_else(|| duration(row.median_us), |size| bytes(size as f64));
                        format!("<td>{told}</td>")
                    })
                };
                let cells: String = schemes.iter().map(cell).collect();
                format!("<tr><th>{}</th>{cells}</tr>", escape(meaning(&operation)))
            })
            .collect();
        let heads: Vec<String> =
            std::iter::once(String::new()).chain(schemes.iter().map(|s| s.to_uppercase())).collect();
        format!("<h4>{n} readings</h4>{}", table(&heads, &body))
    };
    sizes.into_iter().map(one).collect()
}

/// Returns the operation's part in the cost of a scheme, for people.
fn meaning(operation: &str) -> &str {
    match operation {
        "encode_encrypt_secret" => "device: encrypt",
        "serialise seeded packed" => "device: bytes sent",
        "add" => "cloud: sum",
        "multiply_relin" => "cloud: product",
        "decrypt_decode" => "owner: decrypt",
        other => other,
    }
}

/// Returns the slowdowns against plain numbers: for one pair in a ciphertext, and with every slot in use.
fn slowdown(rows: &[&Row]) -> String {
    let plain = |operation: &str| {
        let row =
            rows.iter().find(|row| row.scheme == CLEAR && row.operation == operation && row.verified)?;
        Some(row.median_us / row.n as f64)
    };
    let columns = [
        ("add", "add"),
        ("subtract", "subtract"),
        ("multiply", "multiply_relin"),
        ("multiply", "multiply"),
        ("multiply", "multiply_plain"),
    ];
    let has_agent = |row: &Row| Scheme::named(&row.scheme).is_some_and(Scheme::has_agent);
    let hidden: Vec<&Row> =
        rows.iter().copied().filter(|row| row.scheme != CLEAR && !has_agent(row) && row.verified).collect();
    let lines =
        distinct(&hidden, |row| (row.scheme.as_str(), row.n, row.parameters.as_str(), row.engine.as_str()));
    let body: String = lines
        .into_iter()
        .filter(|(scheme, n, parameters, _)| {
            let has_ring = Scheme::named(scheme).is_some_and(Scheme::has_ring);
            !has_ring || [format!("n = {n}").as_str(), "default"].contains(parameters)
        })
        .map(|(scheme, n, parameters, engine)| {
            let slots = Scheme::named(scheme).map_or(n, |scheme| scheme.slots(n));
            let cell = |(clear, operation): &(&str, &str)| {
                let same = |row: &&&Row| {
                    (row.scheme.as_str(), row.n, row.parameters.as_str()) == (scheme, n, parameters)
                        && row.engine == engine
                        && row.operation == *operation
                };
                let times =
                    hidden.iter().find(same).zip(plain(clear)).map(|(row, plain)| row.median_us / plain);
                let told = times.map(|times| format!("{}; {}", count(times), count(times / slots as f64)));
                format!("<td>{}</td>", told.unwrap_or("–".to_owned()))
            };
            let cells: String = columns.iter().map(cell).collect();
            format!(
                "<tr><th>{}</th><td>{n}</td><td>{}</td>{cells}</tr>",
                escape(&scheme.to_uppercase()),
                escape(engine)
            )
        })
        .collect();
    if body.is_empty() || plain("add").is_none() {
        return String::new();
    }
    let each = ["add", "subtract", "multiply"].iter().filter_map(|name| Some((name, plain(name)?)));
    let told = each.map(|(name, us)| format!("{name} {:.2} ns", us * 1e3)).collect::<Vec<_>>().join(", ");
    let heads =
        ["", "n", "engine", "add", "subtract", "multiply", "multiply, not relinearised", "multiply by plain"]
            .map(str::to_owned);
    format!(
        "<h3>How many times slower than plain numbers</h3><p>One pair of plain numbers: {told}. First figure: one pair a \
         ciphertext; second: every slot in use.</p>{}",
        table(&heads, &body)
    )
}

/// Formats a large factor with three digits.
fn count(times: f64) -> String {
    match times {
        t if t >= 1e6 => format!("{:.3} million", t / 1e6),
        t if t >= 1e3 => format!("{:.1} thousand", t / 1e3),
        t => format!("{t:.1}"),
    }
}

/// Returns a grid of means and deviations: a row for each parameter set, a column for each operation.
fn grid(rows: &[&Row]) -> String {
    let mut text = String::new();
    for scheme in distinct(rows, |row| row.scheme.as_str()) {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.scheme == scheme).collect();
        let operations = distinct(&of, Row::label);
        let lines = distinct(&of, |row| (row.parameters.as_str(), row.n, row.engine.as_str()));
        let body: String = lines
            .into_iter()
            .map(|(parameters, n, engine)| {
                let mine: Vec<&&Row> = of
                    .iter()
                    .filter(|row| {
                        (row.parameters.as_str(), row.n, row.engine.as_str()) == (parameters, n, engine)
                    })
                    .collect();
                let insecure =
                    if mine.iter().any(|row| row.is_insecure()) { " (below 128 bits)" } else { "" };
                let cell = |operation: &String| {
                    let row = mine.iter().find(|row| row.label() == *operation);
                    row.map_or("<td>–</td>".to_owned(), |row| match row.bytes {
                        Some(size) => format!("<td>{}</td>", bytes(size as f64)),
                        None => {
                            format!(
                                "<td>{}<br><small>± {}</small></td>",
                                duration(row.mean_us),
                                duration(row.sd_us)
                            )
                        }
                    })
                };
                let cells: String = operations.iter().map(cell).collect();
                format!(
                    "<tr><th>{}{insecure}</th><td>{n}</td><td>{}</td>{cells}</tr>",
                    escape(parameters),
                    escape(engine)
                )
            })
            .collect();
        let heads = ["parameters", "n", "engine"].into_iter().map(str::to_owned).chain(operations);
        text += &format!(
            "<h3>{}</h3>{}",
            escape(&scheme.to_uppercase()),
            table(&heads.collect::<Vec<_>>(), &body)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn slowdown_is_per_pair_and_per_slot() {
        let row = |scheme: &str, parameters: &str, n: usize, operation: &str, us: f64| Row {
            scheme: scheme.into(),
            parameters: parameters.into(),
            ..Row::example("sotto", operation, n, us)
        };
        let rows = [
            row("clear", "plain numbers", 1000, "add", 1.0),
            row("bfv", "n = 8192", 8192, "add", 81.92),
            row("bfv", "t = 7", 8192, "add", 81.92),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let text = slowdown(&rows);
        assert!(text.contains("add 1.00 ns") && text.contains("81.9 thousand; 10.0"), "{text}");
        assert_eq!(text.matches("<tr>").count(), 2, "one n, and no sweep");
        assert_eq!(slowdown(&rows[1..]), "");
    }
}
