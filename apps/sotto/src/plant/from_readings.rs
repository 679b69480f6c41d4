//! Results that are computed from readings, in plans and declarations.

use sotto_owner::question::{Call, Question};
use sotto_owner::{Chosen, Plant};

use crate::output::{grouped, say};

/// Prints the bytes of readings that come down for the questions of a stream, if any is computed from readings. `asked` is a
/// question that the plan is for.
pub(super) fn plan(plant: &Plant, chosen: &Chosen, asked: Option<&str>) {
    let names = chosen.stream.questions.iter().map(String::as_str).chain(asked);
    let mut calls: Vec<String> = Vec::new();
    let planned = names.filter_map(|name| plant.planned_question(name).ok());
    for call in planned.flat_map(|question| named(&question)) {
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    if calls.is_empty() {
        return;
    }
    let (window, a_day) = (chosen.readings_down(), chosen.windows_a_day());
    say(format!(
        "    {}: readings come down, {} bytes a window, {} a year (`sotto ask --fetch` bounds them)",
        calls.join(", "),
        grouped(window),
        grouped(window * a_day * 365)
    ));
}

/// Says of a declared question which results are computed from readings.
pub(super) fn declared(question: &Question) {
    for call in named(question) {
        say(format!(
            "  {call}: computed from readings, which come down when it is asked (`sotto plan` has their bytes)"
        ));
    }
}

fn named(question: &Question) -> Vec<String> {
    question.calls().filter(|call| call.is_of_readings()).map(Call::to_string).collect()
}
