//! The evaluator in a loop: envelopes are read from memory, with the checks that the lake does.

use anyhow::Context as _;
use sotto_evaluate::{Input, job};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Ciphertext, Evaluator};
use sotto_runtime::Threads;
use sotto_wire::{Body, Envelope, LARGEST_ENVELOPE, WireError};

use crate::generate::Store;

fn body(bytes: &[u8]) -> Result<Body, WireError> {
    Envelope::read(bytes, LARGEST_ENVELOPE).map(Envelope::into_body)
}

/// Switches all ciphertexts to the owner's key and adds them.
pub(crate) fn switched_sum(store: &Store) -> anyhow::Result<Ciphertext<Bfv>> {
    let (evaluator, mut scratch) = (Evaluator::new(&store.params), Scratch::new());
    let mut sum: Option<Ciphertext<Bfv>> = None;
    for (_, bytes) in &store.envelopes {
        let input = Input::of(&store.params, &body(bytes)?)?.expanded(&evaluator, &store.keys)?;
        let switched = evaluator.switch_key_with(&input, &store.keys, &mut scratch)?;
        match &mut sum {
            None => sum = Some(switched),
            Some(sum) => {
                evaluator.add_assign(sum, &switched, &mut scratch)?;
                evaluator.recycle(switched, &mut scratch);
            }
        }
    }
    sum.context("no ciphertexts")
}

/// Multiplies the ciphertexts of each pair.
pub(crate) fn products(store: &Store) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut frames = Vec::new();
    for pair in store.envelopes.chunks(2) {
        let key = pair.first().map_or(store.keys.key, |(key, _)| *key);
        let keys = store.own_keys.get(&key).context("keys of a device")?;
        let mut bodies = pair.iter().map(|(_, bytes)| body(bytes));
        let done = job(&store.params, &store.plan, &mut bodies, keys, &Threads::one(), 1 << 30)?;
        frames.push(done.outputs.concat());
    }
    Ok(frames)
}
