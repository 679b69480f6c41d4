//! Evaluation keys of any scheme.

use std::sync::Arc;

use sotto_api::keys::KeyContents;
use sotto_rlwe::{Automorphism, EvaluationKeys, KeyId, of_any_scheme, with_any};
use sotto_runtime::Managed;
use sotto_wire::Digest;

/// Evaluation keys of one scheme, expanded.
type SharedKeys<S> = Arc<EvaluationKeys<S>>;

/// Evaluation keys of whichever scheme.
pub(super) type AnyKeys = of_any_scheme!(SharedKeys);

/// Evaluation keys in memory, and the operations that they allow.
#[derive(Clone)]
pub(crate) struct LoadedKeys {
    pub(crate) key: KeyId,
    pub(crate) relinearisation: bool,
    pub(crate) galois: usize,
    /// The secret keys from which ciphertexts can be switched, ascending.
    pub(crate) transfers: Vec<KeyId>,
    pub(crate) contents: KeyContents,
    /// The digest of the keys' frame; `None` for an empty set.
    pub(crate) digest: Option<Digest>,
    pub(super) keys: AnyKeys,
}

impl LoadedKeys {
    pub(super) fn new(keys: AnyKeys, digest: Option<Digest>) -> Self {
        let (key, relinearisation, contents) = with_any!(&keys, known => {
            (known.key, known.relinearisation.is_some(), contents(known))
        });
        let galois = with_any!(&keys, known => known.galois.len());
        let transfers = with_any!(&keys, known => known.transfers.keys().copied().collect());
        Self { key, relinearisation, galois, transfers, contents, digest, keys }
    }
}

/// Returns the rotations, the row swap and the transfers of a set of evaluation keys.
fn contents<S: Managed>(keys: &EvaluationKeys<S>) -> KeyContents {
    let params = &keys.params;
    let row = (params.degree() / 2) as i32;
    let mut contents = KeyContents {
        row: row.unsigned_abs(),
        rotations: Vec::new(),
        swap_rows: keys.can_rotate(Automorphism::SwapRows),
        transfers: keys.transfers.keys().map(KeyId::to_string).collect(),
    };
    // Rotations by s are the powers of the rotation by one.
    let group = 2 * params.degree() as u64;
    let Some(one) = params.galois_element(1).filter(|_| !keys.galois.is_empty()) else { return contents };
    let mut element = 1;
    for step in 1..row {
        element = element * one as u64 % group;
        if keys.galois.key(element as usize).is_some() {
            contents.rotations.push(if step > row / 2 { step - row } else { step });
        }
    }
    contents.rotations.sort_unstable();
    contents
}
