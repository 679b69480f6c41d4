//! What the demo prints for people.

use comfy_table::{CellAlignment, Table, presets};

use super::lane::Lane;
use super::report::{Answered, Document};
use crate::output::say;
use crate::phases::table;

/// Prints everything.
pub(super) fn print(document: &Document, lanes: &[Box<dyn Lane>], seen: &str) {
    if let Some(reason) = &document.fallback_reason {
        say(format!("The sensors could not be read ({reason}): a generator stood in for them.\n"));
    }
    say(format!("What was read      {} readings from {} by two devices", document.readings, document.read));
    say(format!("What the cloud saw {seen} …"));
    say(format!(
        "On the wire        {} bytes, {:.0} a reading (unused slots included)",
        document.bytes_uploaded, document.bytes_per_reading
    ));
    let kinds = ["device-1, own secret key", "device-2, public key only"];
    for ((bytes, readings), kind) in document.shares.iter().zip(kinds) {
        say(format!("                   {bytes} bytes for {readings} readings from {kind}"));
    }
    say("\nParameters, chosen for the questions (128-bit security)");
    for lane in lanes {
        say(format!("  {}", lane.describe()));
    }
    say(format!("\n{}", answers(&document.questions)));
    say("  of many answers (one a channel, or one a reading) the one with the largest error is shown");
    say(
        "  answers over both devices are under device-2's key: the cloud brought device-1's data there (switch-key)\n",
    );
    say("How each was computed");
    let first = document.questions.first().map(|q| q.devices.clone()).unwrap_or_default();
    for question in document.questions.iter().filter(|q| q.devices == first || q.devices.len() > 1) {
        say(format!("  {} {}: {}", question.scheme.to_uppercase(), question.name, steps(question)));
    }
    say(format!("\n{}", table(&document.phases)));
    if document.all_within_bounds() {
        say("Every answer is within its bound.");
    } else {
        say("AN ANSWER IS OFF BY MORE THAN ITS BOUND.");
    }
}

fn answers(questions: &[Answered]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header([
        "question",
        "scheme",
        "devices",
        "channel",
        "decrypted",
        "in the clear",
        "error",
        "bound",
    ]);
    for q in questions {
        let unit = if q.unit.is_empty() { String::new() } else { format!(" {}", q.unit) };
        table.add_row([
            q.name.to_owned(),
            q.scheme.to_uppercase(),
            q.devices.join(", "),
            q.channel.clone(),
            format!("{:.6}{unit}", q.decrypted),
            format!("{:.6}{unit}", q.clear),
            format!("{:.1e}", q.error),
            format!("{:.1e}", q.bound),
        ]);
    }
    for column in 4..8 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn steps(question: &Answered) -> String {
    let of = |place: &str| {
        let steps = question.steps.iter().filter(|s| s.place == place);
        let steps: Vec<String> = steps
            .map(|s| if s.count == 1 { s.op.to_owned() } else { format!("{} × {}", s.count, s.op) })
            .collect();
        format!("{place}: {}", steps.join(", "))
    };
    ["device", "cloud", "owner"].map(of).join("; ")
}
