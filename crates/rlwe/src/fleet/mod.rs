//! Sums over a fleet: ciphertexts of devices with their own secrets s_i under one mask a, and one key switch for all of
//! them.
//!
//! Σ (−a·s_i + f·e_i + m_i) is an encryption of Σ m_i under Σ s_i with the same mask. Switching keys from s_i to s have
//! the form (−A_i·s + f·e_i + g·s_i, A_i), so their sum switches from Σ s_i to s: N devices cost one switch instead of
//! N. One mask under many secrets is as hard as under one, by a hybrid argument over the secrets (Peikert,
//! Vaikuntanathan and Waters, CRYPTO 2008).

mod compact_sum;
mod key_sum;
mod transfer_sum;

pub use compact_sum::CompactSum;
pub use key_sum::KeySum;
pub use transfer_sum::TransferSum;
