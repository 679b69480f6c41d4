//! Transcripts: the cloud's signed statements of work it did, with the digests of inputs and outputs.
//!
//! Evaluation returns the same bits on every machine. Anyone with the messages, the request and the evaluation keys can
//! therefore repeat the work without a secret key and compare the outputs' digests. docs/concepts/transcripts.md has
//! the layout.

use alloc::vec::Vec;

use sotto_rlwe::{KeyId, ParameterId};

use crate::error::WireError;
use crate::frame;
use crate::hash::Digest;
use crate::kind::Kind;
use crate::merkle::Frontier;
use crate::signature::verify;

const CONTEXT: &[u8] = b"sotto transcript v1";
/// The first byte of a transcript of a job.
const JOB: u8 = 1;
/// First bytes of transcripts of sums of places, which earlier programs signed. They are never given again.
const SUMS_OF_PLACES: [u8; 2] = [2, 3];
/// Largest number of outputs of a transcript.
pub const MOST_TRANSCRIPT_OUTPUTS: usize = 4096;
/// Length in bytes of the longest frame of a [`Transcript`].
pub const LARGEST_TRANSCRIPT: u64 = 32 * MOST_TRANSCRIPT_OUTPUTS as u64 + 512;

/// The envelopes that the work read, in order.
///
/// Example: [`Transcript`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranscriptInputs {
    /// Number of envelopes.
    pub count: u64,
    /// The root of the Merkle tree over their leaves: [`crate::SignedHeader::leaf`] of each.
    pub root: Digest,
}

/// A transcript without its signature.
///
/// Example: [`Transcript`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptParts {
    /// The ciphertexts' parameters.
    pub parameters: ParameterId,
    /// The key of the outputs.
    pub key: KeyId,
    /// The digest of the plan's frame.
    pub request: Digest,
    /// The digest of the frame of the evaluation keys that were used; `None` if none were used.
    pub evaluation_keys: Option<Digest>,
    /// The envelopes.
    pub inputs: TranscriptInputs,
    /// Digests of the outputs' frames, in order.
    pub outputs: Vec<Digest>,
    /// The end of the work by the cloud's clock, in milliseconds since 1970.
    pub ended_at: i64,
    /// The cloud's Ed25519 verifying key.
    pub cloud: [u8; 32],
}

/// The cloud's signed statement of some work.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_rlwe::{KeyId, ParameterId};
/// use sotto_wire::{Transcript, TranscriptInputs, TranscriptParts};
/// # let cloud = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let parts = TranscriptParts {
///     parameters: ParameterId([1; 32]),
///     key: KeyId([2; 16]),
///     request: [6; 32], // the plan
///     evaluation_keys: Some([7; 32]),
///     inputs: TranscriptInputs::of([[3; 32], [4; 32]]), // leaves of two signed headers
///     outputs: vec![[5; 32]],
///     ended_at: 1_795_000_000_000,
///     cloud: cloud.verifying_key(),
/// };
/// let transcript = Transcript::sign(parts, |message| cloud.sign(message))?;
/// let received = Transcript::read(&transcript.write()?)?;
/// received.verify()?;
/// assert_eq!(received.parts().inputs.count, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    parts: TranscriptParts,
    signature: [u8; 64],
}

impl TranscriptInputs {
    /// Computes the root over the leaves of envelopes, in the order of the work.
    #[must_use]
    pub fn of(leaves: impl IntoIterator<Item = Digest>) -> Self {
        let tree = Frontier::of(leaves);
        Self { count: tree.size(), root: tree.root() }
    }
}

impl TranscriptParts {
    fn bytes(&self) -> Result<Vec<u8>, WireError> {
        if self.outputs.len() > MOST_TRANSCRIPT_OUTPUTS {
            return Err(TOO_MANY);
        }
        let mut out = Vec::with_capacity(256 + 32 * self.outputs.len());
        out.push(JOB);
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        out.extend_from_slice(&self.request);
        out.push(u8::from(self.evaluation_keys.is_some()));
        out.extend_from_slice(&self.evaluation_keys.unwrap_or_default());
        out.extend_from_slice(&self.inputs.count.to_le_bytes());
        out.extend_from_slice(&self.inputs.root);
        out.extend_from_slice(&(self.outputs.len() as u32).to_le_bytes());
        out.extend_from_slice(self.outputs.as_flattened());
        out.extend_from_slice(&self.ended_at.to_le_bytes());
        out.extend_from_slice(&self.cloud);
        Ok(out)
    }
}

const TOO_MANY: WireError = WireError::Value("a transcript has at most 4,096 outputs");

impl Transcript {
    /// Signs a transcript.
    ///
    /// # Errors
    /// [`WireError::Value`] if there are more than [`MOST_TRANSCRIPT_OUTPUTS`] outputs.
    pub fn sign(parts: TranscriptParts, sign: impl FnOnce(&[u8]) -> [u8; 64]) -> Result<Self, WireError> {
        let signature = sign(&[CONTEXT, &parts.bytes()?].concat());
        Ok(Self { parts, signature })
    }

    /// Returns the transcript without its signature.
    #[must_use]
    pub fn parts(&self) -> &TranscriptParts {
        &self.parts
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// Those of [`Transcript::sign`].
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let parts = self.parts.bytes()?;
        Ok(frame::write(Kind::Transcript, parts.len() + 64, |out| {
            out.extend_from_slice(&parts);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most [`LARGEST_TRANSCRIPT`] bytes. Does not check the signature: see [`Transcript::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a transcript; [`WireError::Places`] if they are one of sums of places.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Transcript, LARGEST_TRANSCRIPT)?;
        match reader.u8()? {
            JOB => {}
            work if SUMS_OF_PLACES.contains(&work) => return Err(WireError::Places),
            _ => return Err(WireError::Value("a transcript is of a job")),
        }
        let (parameters, key, request) = (reader.parameter_id()?, reader.key_id()?, reader.array()?);
        let (has_keys, keys) = (reader.flag()?, reader.array()?);
        if !has_keys && keys != [0; 32] {
            return Err(WireError::Padding);
        }
        let inputs = TranscriptInputs { count: reader.u64()?, root: reader.array()? };
        let count = reader.u32()? as usize;
        if count > MOST_TRANSCRIPT_OUTPUTS {
            return Err(TOO_MANY);
        }
        reader.expect_left(32 * count + 8 + 32 + 64)?;
        let outputs = (0..count).map(|_| reader.array()).collect::<Result<_, _>>()?;
        let (ended_at, cloud, signature) = (reader.i64()?, reader.array()?, reader.array()?);
        let evaluation_keys = has_keys.then_some(keys);
        let parts =
            TranscriptParts { parameters, key, request, evaluation_keys, inputs, outputs, ended_at, cloud };
        Ok(Self { parts, signature })
    }

    /// Checks the signature against the transcript's own `cloud` key. The caller must check that this key is the
    /// cloud's.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self) -> Result<(), WireError> {
        verify(&[CONTEXT, &self.parts.bytes()?].concat(), &self.signature, &self.parts.cloud)
    }
}
