//! Byte formats of all public objects: framed, bounded, canonical.
//!
//! ```
//! use sotto_keys::{DeviceSecret, SecretKey};
//! use sotto_rlwe::{Bfv, Params, Scheme};
//! use sotto_wire::{AnyCiphertext, WireError, seeded_bytes};
//!
//! let mut rng = sotto_ring::secure_rng()?;
//! let params = Params::<Bfv>::default_chain(4096, 65_537)?;
//! let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
//! // Two temperatures in tenths of a degree.
//! let boiler = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
//! let mut bytes = AnyCiphertext::Seeded(key.encrypt(&boiler, &mut rng)?).write();
//! assert_eq!(bytes.len(), seeded_bytes(&params));
//! assert!(AnyCiphertext::read(&bytes, &params).is_ok());
//! bytes[1000] ^= 1;
//! assert_eq!(AnyCiphertext::read(&bytes, &params).err(), Some(WireError::Digest));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every object is one frame: a 16-byte header, a payload, and a 32-byte BLAKE3 digest of all bytes before it. The
//! payload's length follows from the header and is checked against the parameters before anything is allocated. The
//! encoding is canonical: reading and writing again returns the same bytes. Windows of version 2 of the envelope are
//! not frames: they have few bytes and a signature. docs/concepts/wire.md has the layout.
//!
//! # Features
//!
//! - `std` (default): the standard library in the dependencies. Without it the crate needs `alloc` only.
//! - `partial` (default): keys and ciphertexts of the partially homomorphic schemes, and batches for the re-encryption
//!   agent (`sotto-partial`).
//! - `plan` (default): plans (`sotto-program`).
//! - `counts`: for tests: how often a thread parsed, hashed and checked signatures.
//!
//! A device needs neither `partial` nor `plan`.

#![cfg_attr(not(feature = "std"), no_std)]

#[macro_use]
extern crate alloc;

mod arrived;
mod bits;
mod body;
mod bundle;
mod channels;
mod ciphertext;
mod counts;
mod envelope;
mod error;
#[cfg(feature = "partial")]
mod exchange;
mod family;
mod fields;
mod frame;
mod group;
mod hash;
mod header;
mod heads;
mod keys;
mod kind;
mod lists;
mod logged;
mod mask;
mod membership;
mod merkle;
mod name;
mod order;
mod parameters;
#[cfg(feature = "partial")]
mod partial;
#[cfg(feature = "plan")]
mod plan;
mod position;
mod position_runs;
mod reader;
mod receipt;
mod reduced;
mod refusal;
mod renumbered;
mod roll_up;
mod seeded;
mod signature;
mod signed;
mod slots;
mod stored;
mod stream;
mod sums;
mod tag;
mod transcript;
mod window;

pub use arrived::Arrived;
pub use body::Body;
pub use bundle::{
    LARGEST_BUNDLE, MOST_PARTS, OwnerKeys, VectorHeader, VectorOffset, read_vector, write_vector,
};
pub use ciphertext::{AnyCiphertext, CiphertextHeader, expanded_bytes, seeded_bytes};
#[cfg(feature = "counts")]
pub use counts::{Counts, counts};
pub use envelope::{Envelope, LARGEST_ENVELOPE, message_digest};
pub use error::WireError;
#[cfg(feature = "partial")]
pub use exchange::{
    BatchId, ExchangeKeys, UnreadRequests, batch_id, longest_exchange_request, read_exchange_request,
    read_exchange_response, write_exchange_request, write_exchange_response,
};
pub use fields::{GroupPlace, WindowFields, WindowRest, group_paths};
pub use frame::{DIGEST_BYTES, FRAME_OVERHEAD, frame_digest, frame_kind, whole_frame_digest};
pub use group::WindowGroup;
pub use hash::Digest;
pub use header::{EnvelopeHeader, LARGEST_LAYOUT, LONGEST_UPLOAD_KEY};
pub use heads::{Heads, HeadsRequest, LARGEST_HEADS, LARGEST_HEADS_REQUEST, MOST_HEADS};
pub use keys::{
    EvaluationKeyCounts, evaluation_keys_bytes, evaluation_keys_header, read_evaluation_keys,
    read_public_key, write_evaluation_keys, write_public_key,
};
pub use kind::Kind;
pub use logged::{
    HeadFacts, ID_BYTES, LARGEST_LOG_PAGE, LogEntry, LogItem, LogPage, LoggedWindow, PageEntry,
    sums_window_id,
};
pub use mask::{MaskName, SALT_BYTES};
pub use membership::{MOST_GROUPED, is_group};
pub use merkle::Frontier;
pub use name::is_name;
pub use order::{Forget, FromLog, LARGEST_ORDER, Order, OrderParts, Ordered};
pub use parameters::{read_parameters, write_parameters};
#[cfg(feature = "partial")]
pub use partial::{
    MOST_CIPHERTEXTS, elgamal_group, read_elgamal_ciphertexts, read_elgamal_public_key,
    read_paillier_ciphertexts, read_paillier_public_key, read_ristretto_ciphertexts,
    read_ristretto_public_key, write_elgamal_ciphertexts, write_elgamal_public_key,
    write_paillier_ciphertexts, write_paillier_public_key, write_ristretto_ciphertexts,
    write_ristretto_public_key,
};
#[cfg(feature = "plan")]
pub use plan::{LARGEST_PLAN, read_plan, write_plan};
pub use position::{LARGEST_POSITION_REQUEST, PositionRequest};
pub use position_runs::MOST_RUNS;
pub use receipt::{LARGEST_STREAM_HEAD, Receipt, StreamHead};
pub use reduced::{read_reduced, reduced_bytes, write_reduced};
pub use refusal::{PROBLEM_TYPE, is_final_refusal};
pub use roll_up::RollUp;
pub use seeded::{SEEDED_PREAMBLE_BYTES, SeededPreamble, SeededWriter};
pub use signed::SignedHeader;
pub use slots::{SlotsWindow, compact_bytes, mask_seed, read_compact, write_compact};
pub use stream::{LARGEST_STREAM_HEADER, StreamHeader, StreamParts, WindowValues};
pub use sums::{
    MOST_SUMS, NotAColumn, PartSum, SUMS_WINDOW_OVERHEAD, SumBlocks, SumsAnswer, SumsStream, TableBits,
    TableColumn, WindowNames, table_row, table_sum,
};
pub use tag::{STREAM_TAG_BYTES, StreamId, StreamTag};
pub use transcript::{
    LARGEST_TRANSCRIPT, MOST_TRANSCRIPT_OUTPUTS, Transcript, TranscriptInputs, TranscriptParts,
};
pub use window::{TakenReceipt, WINDOW_OVERHEAD, stream_tag, window_description, window_replaces};
