//! Reduced answers, made from kept ciphertexts without a random generator.

use sotto_program::{OutputForm, Plan, PlanOutput, Register};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Evaluator, Reduction, SchemeId, Selection};
use sotto_wire::{AnyCiphertext, write_plan, write_reduced};

use super::{Golden, device, insecure_n16};
use crate::Testable;

/// Forms of the files by the suffix of their names: all coefficients, and three of every four.
pub fn reductions<S: Testable>() -> [(&'static str, Reduction); 2] {
    let width = if S::ID == SchemeId::Ckks { 56 } else { 21 };
    let selected = Selection { spacing: 4, count: 3 };
    [("reduced", Selection::ALL), ("reduced-selected", selected)]
        .map(|(name, selection)| (name, Reduction { width, selection }))
}

/// Returns the golden ciphertext at level 1, the input of the reduction.
pub fn reduced_from<S: Testable>(expanded: &[u8]) -> Ciphertext<S> {
    let params = insecure_n16::<S>();
    let read =
        AnyCiphertext::read(expanded, &params).expect("a golden ciphertext").with_claimed_shape().expand();
    Evaluator::new(&params).lower(&read, 1).expect("a lower level")
}

fn answers<S: Testable>(all: &[Golden]) -> Vec<Golden> {
    let name = format!("{}-expanded.bin", S::ID.name());
    let made = all.iter().find(|golden| golden.name == name).map(|golden| golden.bytes.clone());
    let ciphertext = reduced_from::<S>(&super::kept(&name).or(made).expect("made before"));
    let reduced = |(name, reduction)| {
        let reduced = ciphertext.reduce(reduction).expect("the parameters have this form");
        Golden { name: format!("{}-{name}.bin", S::ID.name()), bytes: write_reduced(&reduced) }
    };
    reductions::<S>().into_iter().map(reduced).collect()
}

/// The golden plan with four more outputs, three of which are reduced.
pub fn plan_with_forms() -> Plan {
    let mut plan = device::plan();
    let forms = [(8, 1, 1), (34, 64, 3), (56, 131_072, 131_071)];
    let forms = forms.map(|(width, spacing, count)| Some(OutputForm { width, spacing, count }));
    for (number, form) in (0..).zip(forms.into_iter().chain([None])) {
        plan.outputs.push(PlanOutput { name: format!("answer-{number}"), register: Register(8), form });
    }
    plan
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    let made = [answers::<Bfv>(all), answers::<Bgv>(all), answers::<Ckks>(all)];
    all.extend(made.into_iter().flatten());
    let bytes = write_plan(&plan_with_forms()).expect("a plan");
    all.push(Golden { name: "plan-with-forms.bin".into(), bytes });
}
