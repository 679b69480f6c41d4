//! The owner's requests, one method each.

use std::ops::ControlFlow;

use serde::Deserialize;
use serde_json::json;
use sotto_trust::Trust;

use crate::device::{Devices, RegisteredKey};
use crate::envelope::{EnvelopeQuery, Envelopes, StoredEnvelope};
use crate::error::CloudError;
use crate::http::{Answer, Site};
use crate::interrupt::Interrupt;
use crate::job::{self, JobDone, JobProgress};
use crate::key::KeyStatus;
use crate::limits::Limits;
use crate::list::{Forgotten, Jobs};
use crate::log::{self, LogPage};
use crate::sums::{FleetSumsOf, SumOf, Summed};
use crate::text::{digest, encoded, name};

/// A cloud's address and the owner's token for it. Requests block the calling thread; several threads may share one
/// `Cloud`.
///
/// Every request may also fail with [`CloudError::Tls`] or [`CloudError::TooLong`] (an answer above 64 MiB), and every
/// submission and request for sums with [`CloudError::Randomness`].
///
/// ```
/// use sotto_cloud_client::{Cloud, CloudError};
///
/// let token = "0123456789abcdef"; // the owner's, from the cloud's operator
/// let cloud = Cloud::new("https://cloud.example.org", token)?;
/// assert_eq!(cloud.url(), "https://cloud.example.org");
/// // Plain HTTP would show the token to the network.
/// let refused = Cloud::new("http://cloud.example.org", token).err();
/// assert!(matches!(refused, Some(CloudError::PlainHttp(_))));
/// # Ok::<(), CloudError>(())
/// ```
pub struct Cloud {
    site: Site,
}

impl Cloud {
    /// Names a cloud by its URL: `https://host:port`, or `http://host:port` on this machine. Does not connect.
    ///
    /// # Errors
    /// [`CloudError::Address`], [`CloudError::PlainHttp`] or [`CloudError::Token`] if the URL or the token is refused.
    pub fn new(url: &str, token: &str) -> Result<Self, CloudError> {
        Self::trusting(url, token, &Trust::default())
    }

    /// Like [`Cloud::new`], but accepts only certificates of these authorities.
    ///
    /// # Errors
    /// Those of [`Cloud::new`].
    pub fn trusting(url: &str, token: &str, trust: &Trust) -> Result<Self, CloudError> {
        Ok(Self { site: Site::new(url, token, trust, false)? })
    }

    /// Like [`Cloud::new`], but accepts `http://host:port` for any host. The owner's token is sent unencrypted, so use
    /// it only on a network that the owner controls.
    ///
    /// # Errors
    /// [`CloudError::Address`] or [`CloudError::Token`] if the URL or the token is refused.
    pub fn with_plain_http(url: &str, token: &str) -> Result<Self, CloudError> {
        Ok(Self { site: Site::new(url, token, &Trust::default(), true)? })
    }

    /// Ends requests from now on with [`CloudError::Interrupted`] when the check says so.
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: Interrupt) -> Self {
        self.site.interrupt = interrupt;
        self
    }

    /// Returns the cloud's address.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.site.url
    }

    /// Returns the cloud's limits.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn limits(&self) -> Result<Limits, CloudError> {
        self.site.fetch("the limits", "/v1/limits")?.json()
    }

    /// Uploads parameters. The cloud refuses less than 128-bit security.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses.
    pub fn put_parameters(&self, frame: &[u8]) -> Result<(), CloudError> {
        self.site.put_frame("the parameters", "/v1/parameters", frame).map(drop)
    }

    /// Registers a device: its verifying key (64 hexadecimal digits), the keys that it may encrypt under, and the
    /// headers of its streams of compact windows (frames in hexadecimal). Replaces an earlier registration with that
    /// name, but keeps its streams.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses.
    pub fn put_device(
        &self,
        device: &str,
        verifying_key: &str,
        keys: &[RegisteredKey],
        streams: &[String],
    ) -> Result<(), CloudError> {
        let body = json!({ "verifying_key": verifying_key, "keys": keys, "streams": streams });
        self.site.put_json("the device", &format!("/v1/devices/{}", encoded(device)), &body).map(drop)
    }

    /// Revokes a device: the cloud refuses its uploads from now on and keeps its envelopes. Returns false if there is
    /// no such device.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses.
    pub fn revoke_device(&self, device: &str) -> Result<bool, CloudError> {
        match self.site.delete("the device", &format!("/v1/devices/{}", encoded(device))) {
            Ok(_) => Ok(true),
            Err(error) if error.refusal() == Some("unknown-device") => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes a device's envelopes whose last reading is before `before` (milliseconds since 1970), and the jobs that
    /// used them. The cloud refuses these envelopes if they are sent again.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn forget(&self, device: &str, before: i64) -> Result<Forgotten, CloudError> {
        let path = format!("/v1/envelopes?device={}&before={before}", encoded(device));
        self.site.delete("the envelopes", &path)?.json()
    }

    /// Iterates over all jobs, the newest first. An item may be an error: collect into a `Result`.
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs::new(&self.site)
    }

    /// Iterates over all devices that were ever registered. An item may be an error: collect into a `Result`.
    pub fn devices(&self) -> Devices<'_> {
        Devices::new(&self.site)
    }

    /// Uploads the evaluation keys of a secret key. They replace those uploaded before.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses.
    pub fn put_keys(&self, frame: &[u8]) -> Result<(), CloudError> {
        self.site.put_frame("the evaluation keys", "/v1/keys", frame).map(drop)
    }

    /// Returns the status of the evaluation keys that the cloud stores for a secret key; None if it stores none.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn key_status(&self, parameter_id: &str, key_id: &str) -> Result<Option<KeyStatus>, CloudError> {
        let path = format!("/v1/keys/{}/{}", encoded(parameter_id), encoded(key_id));
        match self.site.fetch("the evaluation keys", &path) {
            Ok(answer) => answer.json().map(Some),
            Err(error) if error.refusal() == Some("unknown-key") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Uploads a plan and returns its id.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn put_plan(&self, frame: &[u8]) -> Result<String, CloudError> {
        #[derive(Deserialize)]
        struct Kept {
            #[serde(deserialize_with = "name")]
            plan_id: String,
        }
        Ok(self.site.put_frame("the plan", "/v1/plans", frame)?.json::<Kept>()?.plan_id)
    }

    /// Iterates over the envelopes that match a query. An item may be an error: collect into a `Result`.
    pub fn envelopes(&self, query: &EnvelopeQuery) -> Envelopes<'_> {
        Envelopes::new(&self.site, query)
    }

    /// Returns one envelope without its ciphertext.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-envelope` if it
    /// refuses, [`CloudError::Unreadable`] if its answer is invalid.
    pub fn envelope(&self, id: &str) -> Result<StoredEnvelope, CloudError> {
        self.site.fetch("the envelope", &format!("/v1/envelopes/{}", encoded(id)))?.json()
    }

    /// Returns the frame of an envelope's ciphertext.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-envelope` if it
    /// refuses, [`CloudError::TooLong`] if its answer exceeds 64 MiB.
    pub fn body(&self, id: &str) -> Result<Vec<u8>, CloudError> {
        Ok(self.site.fetch("the ciphertext", &format!("/v1/envelopes/{}/body", encoded(id)))?.bytes)
    }

    /// Returns everything that the device signed for an envelope, as a frame: an envelope of version 1, or a window
    /// with its stream's header.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-envelope` if it
    /// refuses, [`CloudError::TooLong`] if its answer exceeds 64 MiB.
    pub fn message(&self, id: &str) -> Result<Vec<u8>, CloudError> {
        Ok(self.site.fetch("the envelope", &format!("/v1/envelopes/{}/envelope", encoded(id)))?.bytes)
    }

    /// Returns a part of a stream's log: its head, and windows from position `from` on. Ask again from the next
    /// position until no windows are returned.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn log(&self, device: &str, stream: &str, from: u64) -> Result<LogPage, CloudError> {
        log::fetch(&self.site, device, stream, from)
    }

    /// Returns the Ed25519 key that the cloud claims to sign with. The claim proves nothing: pin the key that the
    /// cloud's operator publishes.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn identity(&self) -> Result<[u8; 32], CloudError> {
        #[derive(Deserialize)]
        struct Identity {
            #[serde(deserialize_with = "digest")]
            verifying_key: [u8; 32],
        }
        Ok(self.site.fetch("the cloud's key", "/v1/identity")?.json::<Identity>()?.verifying_key)
    }

    /// Submits a plan on envelopes, in the order of the plan's inputs, and returns the job's id. The cloud checks keys,
    /// noise and memory before it accepts the job.
    ///
    /// If the answer is lost, the submission is sent once more under its idempotency key and still becomes one job.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with the failed check, or
    /// `queue-full`, if it refuses, [`CloudError::Unreadable`] if its answer is invalid.
    pub fn submit(&self, plan: &str, inputs: &[&str]) -> Result<String, CloudError> {
        self.submitted(&json!({ "plan": plan, "inputs": inputs }))
    }

    /// Like [`Cloud::submit`], and names the key of the answer. Needed only if all inputs are under foreign keys.
    ///
    /// # Errors
    /// Those of [`Cloud::submit`].
    pub fn submit_under_key(&self, plan: &str, inputs: &[&str], key_id: &str) -> Result<String, CloudError> {
        self.submitted(&json!({ "plan": plan, "inputs": inputs, "key": key_id }))
    }

    fn submitted(&self, submission: &serde_json::Value) -> Result<String, CloudError> {
        #[derive(Deserialize)]
        struct Taken {
            #[serde(deserialize_with = "name")]
            job: String,
        }
        Ok(self.site.post_json("the job", "/v1/jobs", submission)?.json::<Taken>()?.job)
    }

    /// Adds compact ciphertexts, which needs no key. Returns the sums' frame, its transcript, and the cloud's computing
    /// time in microseconds.
    ///
    /// There may be at most 4,096 envelopes and 4,096 sums, and at most 256 KiB of weights as text.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `wrong-sum` or
    /// `unknown-envelope` if it refuses, [`CloudError::TooLong`] if its answer exceeds 64 MiB.
    pub fn sums(&self, envelopes: &[&str], sums: &[SumOf]) -> Result<Summed, CloudError> {
        let request = json!({ "envelopes": envelopes, "sums": sums });
        let answer = self.site.post_json("the sums", "/v1/sums", &request)?;
        Ok(summed(answer))
    }

    /// Adds a fleet's windows that have the requested start and number of ticks, in the order of their keys. Returns
    /// the sums' frame, and the cloud's computing time in microseconds.
    ///
    /// An answer has at most 2^16 windows. Ask again with `after` set to its last key, until an answer has no window.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-fleet` or `wrong-sum`
    /// if it refuses, [`CloudError::TooLong`] if its answer exceeds 64 MiB.
    pub fn fleet_sums(&self, fleet: &str, sums: &FleetSumsOf) -> Result<Summed, CloudError> {
        let path = format!("/v1/fleets/{}/sums", encoded(fleet));
        let answer = self.site.post_json("the sums", &path, &json!(sums))?;
        Ok(summed(answer))
    }

    /// Waits until a job has ended, without a time limit. Calls `on_progress` at least every 200 ms between requests;
    /// [`ControlFlow::Break`] stops the wait. Tolerates a cloud that is unreachable for up to 30 s, e.g. during a
    /// restart.
    ///
    /// # Errors
    /// [`CloudError::JobFailed`] if the job failed, [`CloudError::Cancelled`] if the caller stops the wait,
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-job` if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn wait(
        &self,
        job: &str,
        on_progress: impl FnMut(&JobProgress) -> ControlFlow<()>,
    ) -> Result<JobDone, CloudError> {
        job::wait(&self.site, job, on_progress)
    }

    /// Returns the frame of an output of a finished job. Outputs are numbered from 0, in the plan's order.
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] with `unknown-output` if it
    /// refuses, [`CloudError::TooLong`] if its answer exceeds 64 MiB.
    pub fn output(&self, job: &str, index: usize) -> Result<Vec<u8>, CloudError> {
        Ok(self.site.fetch("the output", &format!("/v1/jobs/{}/outputs/{index}", encoded(job)))?.bytes)
    }
}

fn summed(answer: Answer) -> Summed {
    let Answer { bytes, transcript, evaluate_us, .. } = answer;
    Summed { frame: bytes, transcript, evaluate_us }
}
