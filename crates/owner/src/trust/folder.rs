//! Evidence in a folder: everything needed to verify an answer without the plant.
//!
//! ```text
//! evidence.json        the question, transcripts, plans, names of inputs; keys of the cloud and of devices
//! parameters/ID        frames of the parameters
//! keys/DIGEST          frames of evaluation keys
//! messages/LEAF        frames of the envelopes that the devices signed
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sotto_rlwe::{ParameterId, ParameterSpec};
use sotto_wire::{Digest, Envelope, EnvelopeHeader, LARGEST_ENVELOPE};

use crate::error::{OwnerError, io};
use crate::files::{make_folder, pretty, read_json_within, write_whole};
use crate::lie::Lie;
use crate::work::{Evidence, LARGEST_EVIDENCE};

const DOCUMENT: &str = "evidence.json";

/// The version of the folder's format.
const VERSION: u32 = 1;

/// Largest file that is read, in bytes.
const LARGEST: u64 = 4 << 30;

/// The document of a folder.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) version: u32,
    pub(crate) answer: String,
    pub(crate) question: String,
    /// Keys of the cloud, in hexadecimal, as the owner claims.
    pub(crate) cloud_keys: Vec<String>,
    /// Verifying keys of devices, in hexadecimal, as the owner claims.
    pub(crate) devices: BTreeMap<String, Vec<String>>,
    pub(crate) evidence: Evidence,
}

/// A folder of evidence, for writing or reading.
#[derive(Clone, Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Document {
    pub(crate) fn new(answer: &str, question: &str, evidence: &Evidence) -> Self {
        let (answer, question, evidence) = (answer.to_owned(), question.to_owned(), evidence.clone());
        let (cloud_keys, devices) = (Vec::new(), BTreeMap::new());
        Self { version: VERSION, answer, question, cloud_keys, devices, evidence }
    }
}

impl Folder {
    /// Creates a new folder. Refuses a folder that already has evidence.
    pub(crate) fn create(path: &Path) -> Result<Self, OwnerError> {
        if path.join(DOCUMENT).exists() {
            return Err(OwnerError::Exists { path: path.join(DOCUMENT) });
        }
        for name in ["parameters", "keys", "messages"] {
            make_folder(&path.join(name), false)?;
        }
        Ok(Self(path.to_owned()))
    }

    pub(crate) fn document(&self) -> Result<Document, OwnerError> {
        let path = self.0.join(DOCUMENT);
        let document: Document = read_json_within(&path, LARGEST_EVIDENCE)?;
        if document.version != VERSION {
            let reason = format!("its version is {}, this program knows {VERSION}", document.version);
            return Err(OwnerError::Damaged { path, reason });
        }
        Ok(document)
    }

    /// Writes the document. This is the last step: it makes the folder one of evidence.
    pub(crate) fn finish(&self, document: &Document) -> Result<(), OwnerError> {
        write_whole(&self.0.join(DOCUMENT), &pretty(document)?)
    }

    fn path(&self, kind: &str, name: &str) -> Result<PathBuf, OwnerError> {
        let path = self.0.join(kind).join(name);
        let is_hex = name.bytes().all(|byte| byte.is_ascii_hexdigit()) && !name.is_empty();
        let reason = || format!("{name:?} names no file");
        if is_hex { Ok(path) } else { Err(OwnerError::Damaged { path, reason: reason() }) }
    }

    pub(crate) fn write(&self, kind: &str, name: &str, bytes: &[u8]) -> Result<(), OwnerError> {
        let path = self.path(kind, name)?;
        if path.exists() { Ok(()) } else { fs::write(&path, bytes).map_err(io(&path)) }
    }

    /// Reads a file; returns None if it does not exist.
    pub(crate) fn read(&self, kind: &str, name: &str) -> Result<Option<Vec<u8>>, OwnerError> {
        use std::io::Read as _;
        let path = self.path(kind, name)?;
        if !path.exists() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).map_err(io(&path))?;
        file.take(LARGEST).read_to_end(&mut bytes).map_err(io(&path))?;
        Ok(Some(bytes))
    }

    pub(crate) fn parameters(&self, id: ParameterId) -> Result<ParameterSpec, OwnerError> {
        let frame = self.read("parameters", &id.to_string())?.ok_or(Lie::OtherPlan)?;
        let spec = sotto_wire::read_parameters(&frame).map_err(|_| Lie::OtherPlan)?;
        if spec.id() == id { Ok(spec) } else { Err(Lie::OtherPlan.into()) }
    }

    /// Returns the leaf of a message, after checking that a key of its device signed it, and that it is the message of its
    /// name.
    pub(crate) fn leaf(
        &self,
        name: &str,
        devices: &BTreeMap<String, Vec<String>>,
    ) -> Result<Digest, OwnerError> {
        let impossible = |reason: String| OwnerError::Lie(Lie::ImpossibleWork { reason });
        let message = self.read("messages", name)?;
        let message = message.ok_or_else(|| impossible(format!("there is no message {name}")))?;
        let envelope = Envelope::read_kept(&message, LARGEST_ENVELOPE + 4096);
        let envelope = envelope.map_err(|error| impossible(format!("message {name}: {error}")))?;
        let EnvelopeHeader { device, stream, sequence, .. } = envelope.header().clone();
        let signed = |text: &String| {
            let mut key = [0; 32];
            hex::decode_to_slice(text, &mut key).is_ok() && envelope.verify(&key).is_ok()
        };
        if !devices.get(&device).into_iter().flatten().any(signed) {
            return Err(Lie::ChangedWindow { device, stream, sequence }.into());
        }
        let leaf = envelope.signed_header().leaf();
        if hex::encode(leaf) != name {
            return Err(Lie::ExchangedWindow { device, stream, sequence }.into());
        }
        Ok(leaf)
    }
}
