//! `sotto demo --explain`: parameters, steps, times, processes.

use sotto_owner::StreamReport;

use super::report::{Answered, Document};
use super::screen::wrapped;
use crate::output::say;
use crate::phases::table;
use crate::plant::plan;

/// Prints parameters, steps, times and processes of the run.
pub(super) fn print(document: &Document) {
    say("\nParameters (128-bit security), chosen for all questions of a stream together");
    for stream in &document.streams {
        parameters(stream);
    }
    say("\nSteps, and where they ran");
    for question in &document.questions {
        say(format!("  {} ({})", question.name, question.scheme.to_uppercase()));
        for place in ["device", "cloud", "owner"] {
            wrapped(&format!("    {place}:"), &steps(question, place));
        }
    }
    say(format!("\n{}", table(&document.phases)));
    let processes = document.processes.iter().map(|process| format!("{} {}", process.name, process.pid));
    wrapped("Processes:", &processes.collect::<Vec<_>>());
}

fn parameters(stream: &StreamReport) {
    let modulus = stream.plain_modulus.map_or_else(String::new, |t| format!(", t = {t}"));
    if let (Some(n), Some(bits), Some(left)) = (stream.n, stream.modulus_bits, stream.noise_bits_left) {
        let scheme = stream.scheme.to_uppercase();
        say(format!("  {}: {scheme}, n = {n}, log2 Q = {bits:.0}{modulus}", stream.stream));
        say(format!(
            "    {} levels ({} used), {left:.1} bits of noise left, evaluation keys {} bytes",
            stream.levels, stream.levels_used, stream.bytes_of_keys
        ));
    } else {
        say(format!(
            "  {}: sums of up to {} windows, {} bytes a window, {} of them tags",
            stream.stream,
            stream.sums_of,
            stream.bytes_a_window,
            8 * stream.parts.len()
        ));
    }
    say(format!("    {}", plan::way(stream)));
    wrapped("    for", &stream.questions);
}

fn steps(question: &Answered, place: &str) -> Vec<String> {
    let steps = question.steps.iter().filter(|step| step.place == place);
    steps
        .map(|step| if step.count == 1 { step.op.clone() } else { format!("{} × {}", step.count, step.op) })
        .collect()
}
