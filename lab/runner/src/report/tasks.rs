//! Whole tasks: schemes with a re-encryption agent at each latency beside schemes without one, in time and in bytes.

use sotto_chart::{Element, escape, figure};

use super::chart::bars;
use super::distinct;
use super::format::{bytes, colour, duration};
use crate::definition::{Definition, Scheme, csv_table};
use crate::row::Row;

/// A task's operation, its title, and its name in the paper's table.
const TASKS: [(&str, &str, &str); 4] = [
    ("task_expression", "Small expression", "simple task"),
    ("task_weighted_sum", "Weighted sum", "weighted sum"),
    (
        "task_weighted_sum_encrypted",
        "Weighted sum, encrypted before",
        "weighted sum, inputs encrypted before,",
    ),
    ("task_regression", "Linear regression", "linear regression"),
];
/// A task and its rows.
type Measured<'a> = ((&'static str, &'static str, &'static str), Vec<&'a Row>);
/// The file of the paper's table.
const PAPER: &str = "practical-processing-2022.csv";
/// The colour of schemes with a re-encryption agent.
const WITH_AGENT: &str = "#444444";
/// The written objects, and their names for people.
const OBJECTS: [(&str, &str); 3] =
    [("ciphertext", "a ciphertext"), ("public_key", "public keys"), ("relin_keys", "evaluation keys")];

/// Returns the section; empty if the definition has no tasks or none was measured.
pub(super) fn section(definition: &Definition, rows: &[&Row]) -> String {
    let of = |task: &str| rows.iter().copied().filter(|row| row.operation == task).collect::<Vec<_>>();
    let measured: Vec<Measured<'_>> =
        TASKS.iter().map(|task| (*task, of(task.0))).filter(|one| !one.1.is_empty()).collect();
    if !definition.operations.iter().any(|operation| operation.is_task()) || measured.is_empty() {
        return String::new();
    }
    let words: String = measured.iter().map(|((_, name, _), rows)| words(name, rows)).collect();
    let body: String = measured.iter().map(|((_, name, _), rows)| lines(name, rows)).collect();
    let cards: String = measured.iter().map(|((_, name, _), rows)| card(name, rows)).collect();
    let latencies = latencies(rows);
    let heads: String = latencies.iter().map(|ms| format!("<th>{ms} ms</th>")).collect();
    format!(
        "<h3>Tasks with sums and products</h3>\
         <p>One number in each ciphertext, one thread, re-encryption agent and cloud on the same processor; from numbers to encrypted answers. Schemes without an agent \
         have one time for all latencies.</p><ul>{words}{}</ul><div class=\"cards\">{cards}</div>\
         <div class=\"wide\"><table><thead><tr><th>task</th><th>n</th><th>engine</th>{heads}</tr></thead><tbody>{body}\
         </tbody></table></div>{}{}",
        words_on_bytes(rows),
        sizes(rows),
        published(&measured)
    )
}

fn has_agent(row: &Row) -> bool {
    Scheme::named(&row.scheme).is_some_and(Scheme::has_agent)
}

fn latencies(rows: &[&Row]) -> Vec<u32> {
    let mut found: Vec<u32> = rows.iter().filter_map(|row| row.latency_ms).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns a row's name among the rows of its task.
fn name(row: &Row) -> String {
    match (row.scheme.as_str(), row.mode.as_deref()) {
        ("paillier+elgamal", Some(mode)) => format!("converted, {mode}"),
        ("paillier-blinded", Some(mode)) => format!("blinded, {mode}"),
        (scheme, _) => scheme.to_uppercase(),
    }
}

fn fastest<'a>(rows: impl Iterator<Item = &'a Row>) -> Option<&'a Row> {
    rows.filter(|row| row.verified).min_by(|a, b| a.median_us.total_cmp(&b.median_us))
}

/// Describes where emulation is faster.
fn words(task: &str, rows: &[&Row]) -> String {
    let without: Vec<&Row> = rows.iter().copied().filter(|row| !has_agent(row) && row.verified).collect();
    let Some(best) = fastest(without.iter().copied()) else { return String::new() };
    let each = latencies(rows).into_iter().filter_map(|ms| {
        let emulated =
            fastest(rows.iter().copied().filter(|row| has_agent(row) && row.latency_ms == Some(ms)))?;
        let slower: Vec<String> = without
            .iter()
            .filter(|row| row.median_us > emulated.median_us)
            .map(|row| format!("{} {}", row.engine, name(row)))
            .collect();
        let wins = match slower.len() {
            0 => "slower than all others".to_owned(),
            all if all == without.len() => "<strong>faster than all others</strong>".to_owned(),
            _ => format!("<strong>faster than {}</strong>", escape(&slower.join(", "))),
        };
        let times = emulated.median_us / best.median_us;
        Some(format!(
            "{ms} ms: {} ({}), {times:.2} times that, {wins}",
            duration(emulated.median_us),
            escape(&name(emulated))
        ))
    });
    format!(
        "<li>{}. Fastest without an agent: {} {}, {}. Fastest with one, by its distance: {}.</li>",
        escape(task),
        escape(&best.engine),
        escape(&name(best)),
        duration(best.median_us),
        each.collect::<Vec<_>>().join("; ")
    )
}

/// Returns the rows about bytes of the parameter sets that have tasks.
fn written<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let sets = distinct(
        &rows.iter().copied().filter(|row| row.operation.starts_with("task_")).collect::<Vec<_>>(),
        |row| row.parameters.as_str(),
    );
    let is_of_tasks = |row: &&&Row| {
        let is_written = row.operation == "serialise" && row.bytes.is_some() && row.verified;
        is_written && sets.contains(&row.parameters.as_str())
    };
    rows.iter().filter(is_of_tasks).copied().collect()
}

/// Describes where emulation needs fewer bytes.
fn words_on_bytes(rows: &[&Row]) -> String {
    let rows = written(rows);
    let least = |object: &str, agent: bool| {
        let of = rows.iter().filter(|row| row.object.as_deref() == Some(object) && has_agent(row) == agent);
        of.min_by_key(|row| row.bytes).and_then(|row| Some((row.bytes? as f64, *row)))
    };
    let (Some((ours, _)), Some((others, row))) = (least("ciphertext", true), least("ciphertext", false))
    else {
        return String::new();
    };
    let verdict = if ours < others { "<strong>emulation wins</strong>" } else { "emulation does not win" };
    let keys = least("relin_keys", false).map_or(String::new(), |(size, row)| {
        format!(
            "; it needs no evaluation keys, of which the smallest here have {} ({} {}, n = {})",
            bytes(size),
            escape(&row.engine),
            escape(&name(row)),
            row.n
        )
    });
    format!(
        "<li>Bytes: {verdict}. A ciphertext with an agent has {}, the smallest without one {} ({} {}, n = {}), {:.0} times as many{keys}.</li>",
        bytes(ours),
        bytes(others),
        escape(&row.engine),
        escape(&name(row)),
        row.n,
        others / ours
    )
}

fn lines(task: &str, rows: &[&Row]) -> String {
    let latencies = latencies(rows);
    let head =
        format!("<tr><th colspan=\"{}\"><strong>{}</strong></th></tr>", latencies.len() + 3, escape(task));
    let told = |row: &Row| format!("{}{}", duration(row.median_us), if row.verified { "" } else { " ?" });
    let line = |row: &Row| {
        let cells: String = if has_agent(row) {
            let cell = |ms: &u32| {
                let same = |other: &&&Row| name(other) == name(row) && other.latency_ms == Some(*ms);
                format!("<td>{}</td>", rows.iter().find(same).map_or("–".to_owned(), |row| told(row)))
            };
            latencies.iter().map(cell).collect()
        } else {
            format!("<td colspan=\"{}\">{}</td>", latencies.len().max(1), told(row))
        };
        format!(
            "<tr><th>{}</th><td>{}</td><td>{}</td>{cells}</tr>",
            escape(&name(row)),
            row.n,
            escape(&row.engine)
        )
    };
    let mut shown: Vec<(String, &str)> = Vec::new();
    let mut text = head;
    for row in rows {
        let key = (name(row), row.engine.as_str());
        if !shown.contains(&key) {
            shown.push(key);
            text += &line(row);
        }
    }
    text
}

fn card(task: &str, rows: &[&Row]) -> String {
    let bar = |row: &&Row| {
        let (called, colour) = if has_agent(row) {
            let short = match (row.scheme.as_str(), row.mode.as_deref()) {
                ("paillier-blinded", _) => "blinded",
                (_, Some(mode)) => mode,
                _ => "agent",
            };
            (format!("{short} {}", row.latency_ms.unwrap_or_default()), WITH_AGENT)
        } else {
            (format!("{} {}", row.engine, row.scheme), colour(&row.engine))
        };
        (called, colour, row.median_us, duration(row.median_us))
    };
    let about = "logarithmic axis; the number after a mode is the latency in ms";
    let card = figure(task, "").class("card").child(Element::new("p").text(about));
    card.children(bars(task, rows.iter().map(bar).collect())).to_string()
}

/// Returns the table of bytes that travel.
fn sizes(rows: &[&Row]) -> String {
    let rows = written(rows);
    let body: String = distinct(&rows, |row| (row.scheme.as_str(), row.n, row.engine.as_str()))
        .into_iter()
        .map(|(scheme, n, engine)| {
            let cell = |(object, _): &(&str, &str)| {
                let same = |row: &&&Row| {
                    (row.scheme.as_str(), row.n, row.engine.as_str()) == (scheme, n, engine)
                        && row.object.as_deref() == Some(*object)
                };
                let size = rows.iter().find(same).and_then(|row| row.bytes);
                format!("<td>{}</td>", size.map_or("–".to_owned(), |size| bytes(size as f64)))
            };
            let cells: String = OBJECTS.iter().map(cell).collect();
            format!(
                "<tr><th>{}</th><td>{n}</td><td>{}</td>{cells}</tr>",
                escape(&scheme.to_uppercase()),
                escape(engine)
            )
        })
        .collect();
    if body.is_empty() {
        return body;
    }
    let heads: String = OBJECTS.iter().map(|(_, head)| format!("<th>{head}</th>")).collect();
    format!(
        "<p>Bytes, written as each library does by default. With an agent there are no evaluation keys.</p><div class=\"wide\"><table><thead><tr>\
         <th></th><th>n</th><th>engine</th>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

/// Returns the paper's ratios beside the same ratios of this run.
fn published(measured: &[Measured<'_>]) -> String {
    let table = csv_table(PAPER);
    let figure = |task: &str, library: &str| {
        let measure = format!("{task} against {library}");
        table.iter().find(|line| line.get(2) == Some(&measure)).and_then(|line| line.get(3)).cloned()
    };
    let body: String = measured
        .iter()
        .map(|((_, name, paper), rows)| {
            let paper_of = |library: &str| figure(paper, library).unwrap_or("–".to_owned());
            let emulated = rows.iter().find(|row| {
                row.mode.as_deref() == Some("serial") && row.latency_ms == Some(0) && row.verified
            });
            let here = |scheme: &str| {
                let seal =
                    rows.iter().find(|row| row.engine == "seal" && row.scheme == scheme && row.verified);
                let quotient = emulated.zip(seal).map(|(emulated, seal)| seal.median_us / emulated.median_us);
                quotient.map_or("–".to_owned(), |quotient| format!("{quotient:.3}"))
            };
            format!(
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(name),
                escape(&paper_of("SEAL")),
                escape(&paper_of("HElib")),
                here("bfv"),
                here("ckks")
            )
        })
        .collect();
    format!(
        "<p>The speed of the paper\'s emulation, as published, relative to SEAL 2.3.1 and HElib on its machine (we take the larger figures as those of HElib, the slower library in \
         its other tables). Beside them the ratios of this run: the paper\'s mode, converted and serial, without latency, against SEAL.</p>\
         <div class=\"wide\"><table><thead><tr><th>task</th><th>published, SEAL</th><th>published, HElib</th><th>here, SEAL BFV</th>\
         <th>here, SEAL CKKS</th></tr></thead><tbody>{body}</tbody></table></div>"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn row(engine: &str, scheme: &str, at: Option<u32>, us: f64) -> Row {
        Row {
            definition: "practical-2022".into(),
            scheme: scheme.into(),
            mode: at.map(|_| "serial".into()),
            latency_ms: at,
            ..Row::example(engine, "task_expression", 4096, us)
        }
    }

    fn bytes_of(scheme: &str, object: &str, size: u64) -> Row {
        Row {
            operation: "serialise".into(),
            object: Some(object.into()),
            bytes: Some(size),
            ..row("sotto", scheme, None, 1.0)
        }
    }

    #[test]
    fn where_emulation_wins_is_computed() {
        let definition = Definition::named("practical-2022").unwrap();
        let rows = [
            row("sotto", "paillier+elgamal", Some(0), 150.0),
            row("sotto", "paillier+elgamal", Some(20), 40_000.0),
            row("seal", "bfv", None, 300.0),
            row("sotto", "bfv", None, 100.0),
            bytes_of("paillier+elgamal", "ciphertext", 1000),
            bytes_of("bfv", "ciphertext", 50_000),
            bytes_of("bfv", "relin_keys", 90_000),
        ];
        let text = section(&definition, &rows.iter().collect::<Vec<_>>());
        assert!(text.contains("0 ms: 150 µs (converted, serial), 1.50 times that"), "{text}");
        assert!(
            text.contains("<strong>faster than seal BFV</strong>") && text.contains("slower than all others")
        );
        assert!(text.contains("<strong>emulation wins</strong>") && text.contains("50 times as many"));
        assert!(
            text.contains("<td>1.0</td><td>1.46</td><td>2.000</td><td>–</td>"),
            "published beside: {text}"
        );
        assert!(text.contains("<td colspan=\"2\">300 µs</td>"), "one figure for all latencies");
        assert_eq!(text.matches("<rect").count(), 4);
        assert_eq!(section(&definition, &[&rows[5]]), "");
        let faster = [row("sotto", "paillier+elgamal", Some(0), 1.0), row("sotto", "bfv", None, 2.0)];
        let text = section(&definition, &faster.iter().collect::<Vec<_>>());
        assert!(text.contains("faster than all others") && !text.contains("Bytes:"));
    }
}
