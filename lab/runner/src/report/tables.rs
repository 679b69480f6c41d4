//! The page's tables: medians, engines, gaps.

use sotto_chart::escape;

use super::format::{bytes, duration};
use super::{Group, distinct};
use crate::compare;
use crate::row::{Gap, Row};

/// Returns a table for each size: a row for each operation, a column for each engine, ours against the fastest other at
/// the end.
pub(super) fn medians(group: &Group<'_>) -> String {
    let mut sizes = distinct(&group.rows, |row| row.n);
    sizes.sort_unstable();
    sizes.into_iter().map(|n| one_size(group, n)).collect()
}

fn one_size(group: &Group<'_>, n: usize) -> String {
    let rows: Vec<&Row> = group.rows.iter().copied().filter(|row| row.n == n).collect();
    let engines = distinct(&rows, |row| row.engine.as_str());
    let heads: String = engines.iter().map(|engine| format!("<th>{}</th>", escape(engine))).collect();
    let mut body = String::new();
    for operation in distinct(&rows, Row::label) {
        let of: Vec<&Row> = rows.iter().copied().filter(|row| row.label() == operation).collect();
        let cells: String = engines
            .iter()
            .map(|engine| {
                of.iter().find(|row| row.engine == *engine).map_or("<td>–</td>".into(), |r| cell(r))
            })
            .collect();
        let ours = of.iter().find(|row| row.engine == "sotto");
        let ratio = ours.and_then(|ours| compare::ratio(ours, of.iter().copied()));
        let ratio = ratio.map_or(String::from("<td></td>"), |ratio| {
            let class = if ratio >= 1.0 { "faster" } else { "slower" };
            format!("<td class=\"{class}\">{ratio:.2}×</td>")
        });
        body += &format!("<tr><th>{}</th>{cells}{ratio}</tr>", escape(&operation));
    }
    format!(
        "<h4>n = {n}</h4>{}<div class=\"wide\"><table><thead><tr><th>operation</th>{heads}<th>sotto against the fastest \
         other</th></tr></thead><tbody>{body}</tbody></table></div>",
        spans(&rows)
    )
}

/// Describes each engine's parameters; if operations differ in them, with the operations' names.
fn spans(rows: &[&Row]) -> String {
    let span = |row: &Row| (row.limbs, row.special_limbs, row.log2_q, row.security_bits, row.is_insecure());
    let mut told = Vec::new();
    for engine in distinct(rows, |row| row.engine.as_str()) {
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.engine == engine).collect();
        let mut spans: Vec<_> = distinct(&rows, span)
            .into_iter()
            .map(|one| (one, rows.iter().copied().filter(|row| span(row) == one).collect::<Vec<&Row>>()))
            .collect();
        // The parameters of most rows come last, as "all else"; the others list their operations.
        spans.sort_by_key(|(_, of)| of.len());
        let last = spans.len() - 1;
        for (i, (one, of)) in spans.into_iter().enumerate() {
            let (limbs, special, log2_q, security, insecure) = one;
            let security = match security {
                Some(bits) => format!("{bits} bits"),
                None if insecure => "below 128 bits".to_owned(),
                None => "security not stated".to_owned(),
            };
            let named = match (i == last, last) {
                (true, 0) => String::new(),
                (true, _) => " (all else)".to_owned(),
                (false, _) => format!(" ({})", distinct(&of, Row::label).join(", ")),
            };
            told.push(escape(&format!(
                "{engine}{named}: log2 Q = {log2_q}, {limbs} + {special} primes, {security}"
            )));
        }
    }
    format!("<p class=\"small\">{}</p>", told.join("; "))
}

fn cell(row: &Row) -> String {
    let mut notes = String::new();
    if let Some(size) = row.bytes {
        notes += &format!("<br><small>{}</small>", bytes(size as f64));
    }
    if let Some(instead) = &row.instead {
        notes += &format!("<br><small>{}</small>", escape(instead));
    }
    if !row.verified {
        notes += "<br><small>not verified</small>";
    }
    format!(
        "<td title=\"mean {}, standard deviation {}, {} repetitions\">{}{notes}</td>",
        duration(row.mean_us),
        duration(row.sd_us),
        row.count,
        duration(row.median_us)
    )
}

/// Lists the engines that were measured.
pub(super) fn engines(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().collect();
    let told =
        distinct(&rows, |row| (row.engine.as_str(), row.version.as_str(), row.flags.as_str(), row.threads));
    let body: String = told
        .into_iter()
        .map(|(engine, version, flags, threads)| {
            let (engine, version, flags) = (escape(engine), escape(version), escape(flags));
            format!("<tr><th>{engine}</th><td>{version}</td><td>{flags}</td><td>{threads}</td></tr>")
        })
        .collect();
    format!(
        "<div class=\"wide\"><table><thead><tr><th>engine</th><th>version</th><th>build</th><th>threads</th></tr></thead>\
         <tbody>{body}</tbody></table></div>"
    )
}

/// Lists the engines that were not measured, or not in all operations.
pub(super) fn gaps(gaps: &[Gap]) -> String {
    if gaps.is_empty() {
        return "<p>None.</p>".to_owned();
    }
    // A reason is shown once, with everything that it applies to.
    let mut told: Vec<(&Gap, Vec<String>)> = Vec::new();
    for gap in gaps {
        let about = gap.about();
        let same = |(first, _): &&mut (&Gap, Vec<String>)| {
            (&first.engine, &first.definition, &first.reason) == (&gap.engine, &gap.definition, &gap.reason)
        };
        match told.iter_mut().find(same) {
            Some((_, all)) if !all.contains(&about) => all.push(about),
            Some(_) => {}
            None => told.push((gap, vec![about])),
        }
    }
    let mut body = String::new();
    for (gap, about) in told {
        let about = about.join("; ");
        let log = gap.log.as_ref().map_or(String::new(), |log| {
            format!("<details><summary>log of its installation</summary><pre>{}</pre></details>", escape(log))
        });
        body += &format!(
            "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}{log}</td></tr>",
            escape(&gap.engine),
            escape(&gap.definition),
            escape(&about),
            escape(&gap.reason)
        );
    }
    format!(
        "<div class=\"wide\"><table class=\"words\"><thead><tr><th>engine</th><th>definition</th><th>what</th><th>why</th>\
         </tr></thead><tbody>{body}</tbody></table></div>"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn operations_name_their_span_where_an_engine_has_two() {
        let rows = [
            Row::example("sotto", "add", 4096, 1.0),
            Row::example("openfhe", "add", 4096, 1.0),
            Row::example("openfhe", "multiply", 4096, 1.0),
            Row { special_limbs: 0, ..Row::example("openfhe", "rotate", 4096, 1.0) },
        ];
        let text = spans(&rows.iter().collect::<Vec<_>>());
        assert!(text.contains(">sotto: log2 Q"), "{text}");
        assert!(text.contains("openfhe (rotate): "), "{text}");
        assert!(text.contains("openfhe (all else): "), "{text}");
    }
}
