//! The owner's requests, one method each.

use std::ops::ControlFlow;

use sotto_api::devices::{DeviceQuery, FetchRecord, PutDevice, Registration, RevokeDevice};
use sotto_api::envelopes::{EnvelopeQuery, FetchBody, FetchEnvelope, FetchMessage, StoredEnvelope};
use sotto_api::jobs::{CancelJob, FetchOutput, JobQuery, Submission, SubmitJob};
use sotto_api::keys::{FetchKeys, KeyStatus, PutKeys};
use sotto_api::limits::{FetchLimits, Limits};
use sotto_api::log::{FetchIdentity, FetchLog, LogQuery};
use sotto_api::orders::{Forgotten, GiveOrder, ListOrders, OrderQuery};
use sotto_api::parameters::PutParameters;
use sotto_api::plans::PutPlan;
use sotto_api::streams::{AddWindows, Summed, WindowsOf};
use sotto_api::{Condition, Route, reason};
use sotto_http::{Request, Trust};

use crate::error::CloudError;
use crate::interrupt::Interrupt;
use crate::job::{self, JobDone, JobProgress};
use crate::pages::{Devices, Envelopes, Jobs, PAGE};
use crate::requests::Requests;

/// Largest number of orders that are read.
pub const MOST_ORDERS: usize = 100_000;

/// Most bytes of orders that are read.
const MOST_BYTES_OF_ORDERS: usize = 256 << 20;

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
    requests: Requests,
}

/// The owner's record of a device, as the cloud keeps it.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::StoredRecord;
/// # let body = r#"{"record": "00ff", "stored_at": 1795000000000, "generation": 7, "revoked": false}"#;
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(body)]);
///
/// let record: Option<StoredRecord> = cloud.sealed_record("cellar")?;
/// assert_eq!(record.expect("the owner registered one").generation, 7);
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// The record, sealed under the device's secret.
    pub sealed: Vec<u8>,
    /// Number of writes of the device's registration.
    pub generation: u64,
    /// True if the device is revoked.
    pub revoked: bool,
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
        Ok(Self { requests: Requests::new(url, token, trust, false)? })
    }

    /// Like [`Cloud::new`], but accepts `http://host:port` for any host. The owner's token is sent unencrypted, so use
    /// it only on a network that the owner controls.
    ///
    /// # Errors
    /// [`CloudError::Address`] or [`CloudError::Token`] if the URL or the token is refused.
    pub fn with_plain_http(url: &str, token: &str) -> Result<Self, CloudError> {
        Ok(Self { requests: Requests::new(url, token, &Trust::default(), true)? })
    }

    /// Ends requests from now on with [`CloudError::Interrupted`] when the check says so.
    #[must_use]
    pub fn interrupted_by(mut self, interrupt: Interrupt) -> Self {
        self.requests.interrupt = interrupt;
        self
    }

    /// Says in refusals of the token which files differ: `words` takes the place of the cloud's explanation.
    #[must_use]
    pub fn explaining_token(mut self, words: String) -> Self {
        self.requests.other_token = Some(words);
        self
    }

    /// Returns the cloud's address.
    #[must_use]
    pub fn url(&self) -> &str {
        self.requests.url()
    }

    /// Sends a request to any route of the interface, and returns its answer. The methods below do so for most of them.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_api::health::FetchReadiness;
    /// # let body = r#"{"status": "ready", "missing_bodies": 0, "orphans": 1}"#;
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(body)]);
    ///
    /// let ready = cloud.call::<FetchReadiness>([], &(), &())?;
    /// assert_eq!((ready.missing_bodies, ready.orphans), (0, 1));
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// [`CloudError::Away`] if the cloud cannot be reached, [`CloudError::Refused`] if it refuses,
    /// [`CloudError::Unreadable`] if its answer is invalid.
    pub fn call<R: Route>(
        &self,
        names: R::Names<'_>,
        query: &R::Query,
        request: &R::Request,
    ) -> Result<R::Answer, CloudError> {
        self.requests.call::<R>(Request::to::<R>(names, query, request))
    }

    /// Returns the cloud's limits.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::Limits;
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"{
    /// #     "version": "0.1.0", "largest_upload": 67108864, "largest_keys": 268435456, "largest_plan": 67108864,
    /// #     "largest_job": 1073741824, "most_galois_keys": 64, "most_transfer_keys": 64, "most_device_keys": 256,
    /// #     "most_inputs": 1024, "most_outputs": 256, "most_steps": 100000, "largest_page": 500
    /// # }"#)]);
    ///
    /// let limits: Limits = cloud.limits()?;
    /// assert_eq!(limits.largest_upload, 64 << 20);
    /// assert!(limits.most_inputs >= 365, "a year of days fits one plan");
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn limits(&self) -> Result<Limits, CloudError> {
        self.call::<FetchLimits>([], &(), &())
    }

    /// Uploads parameters. The cloud refuses less than 128-bit security.
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn put_parameters(&self, frame: &[u8]) -> Result<(), CloudError> {
        self.call::<PutParameters>([], &(), frame).map(drop)
    }

    /// Registers a device if the condition holds, and returns the registration's generation. Replaces an earlier
    /// registration with that name, but keeps its streams, and its sealed record unless there is a new one.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `written-since` if the condition does not hold.
    pub fn put_device(
        &self,
        device: &str,
        registration: &Registration,
        condition: Condition,
    ) -> Result<u64, CloudError> {
        let request = Request::to::<PutDevice>([device], &(), registration).on(condition);
        Ok(self.requests.call::<PutDevice>(request)?.generation)
    }

    /// Returns the sealed record of a device, with the registration's generation; None if the cloud has none.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; [`CloudError::Unreadable`] if it is not hexadecimal.
    pub fn sealed_record(&self, device: &str) -> Result<Option<StoredRecord>, CloudError> {
        let found = match self.call::<FetchRecord>([device], &(), &()) {
            Err(error) if error.refusal() == Some(reason::NO_RECORD) => return Ok(None),
            found => known(reason::UNKNOWN_DEVICE, found)?,
        };
        let Some(found) = found else { return Ok(None) };
        let wrong = |error: hex::FromHexError| CloudError::Unreadable {
            what: "the device's record",
            reason: error.to_string(),
        };
        let sealed = hex::decode(&found.record).map_err(wrong)?;
        Ok(Some(StoredRecord { sealed, generation: found.generation, revoked: found.revoked }))
    }

    /// Revokes a device if the condition holds: the cloud refuses its uploads from now on and keeps its envelopes.
    /// Returns the registration's generation; None if there is no such device.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `written-since` if the condition does not hold.
    pub fn revoke_device(&self, device: &str, condition: Condition) -> Result<Option<u64>, CloudError> {
        let request = Request::to::<RevokeDevice>([device], &(), &()).on(condition);
        let revoked = known(reason::UNKNOWN_DEVICE, self.requests.call::<RevokeDevice>(request))?;
        Ok(revoked.map(|revoked| revoked.generation))
    }

    /// Gives an order of the owner: a signed frame. Returns the counts of its deletion.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::Forgotten;
    /// # let (cloud, requests) = stand_in::serve(vec![stand_in::ok(
    /// #     r#"{"envelopes": 24, "bytes": 21640, "jobs": 2, "outputs": 2}"#,
    /// # )]);
    /// # let order = b"frame of an order";
    ///
    /// // `order` deletes the cellar's windows from before 2014.
    /// let forgotten: Forgotten = cloud.give_order(order)?;
    /// assert_eq!((forgotten.envelopes, forgotten.jobs), (24, 2));
    /// # assert_eq!(requests.lock().expect("no panic")[0], "POST /v1/orders HTTP/1.1");
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn give_order(&self, frame: &[u8]) -> Result<Forgotten, CloudError> {
        self.call::<GiveOrder>([], &(), frame)
    }

    /// Returns the frames of all orders that the cloud keeps, at most [`MOST_ORDERS`].
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; [`CloudError::Unreadable`] for a page that does not go on from the one before, or too many orders.
    pub fn orders(&self) -> Result<Vec<Vec<u8>>, CloudError> {
        let (mut frames, mut bytes) = (Vec::new(), 0);
        loop {
            let from = frames.len() as u64;
            let page = self.call::<ListOrders>([], &OrderQuery { from }, &())?;
            if page.orders.is_empty() {
                return Ok(frames);
            }
            let follows =
                page.orders.iter().map(|order| order.position).eq(from..from + page.orders.len() as u64);
            bytes += page.orders.iter().map(|order| order.frame.len()).sum::<usize>();
            if !follows || frames.len() + page.orders.len() > MOST_ORDERS || bytes > MOST_BYTES_OF_ORDERS {
                let reason =
                    "its orders do not follow each other, or are more than 100,000 or 256 MiB".to_owned();
                return Err(CloudError::Unreadable { what: "the orders", reason });
            }
            frames.extend(page.orders.into_iter().map(|order| order.frame));
        }
    }

    /// Iterates over all jobs, the newest first. An item may be an error: collect into a `Result`.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::{Jobs, ListedJob};
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
    /// #     "job": "0b", "plan": "0c", "state": "done", "submitted_at": 1795000000000, "ended_at": 1795000000040,
    /// #     "inputs": 24, "outputs": 1, "bytes": 17026
    /// # }]"#)]);
    ///
    /// let jobs: Jobs<'_> = cloud.jobs();
    /// let jobs: Vec<ListedJob> = jobs.collect::<Result<_, _>>()?;
    /// assert_eq!((jobs[0].state.as_str(), jobs[0].inputs), ("done", 24));
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    pub fn jobs(&self) -> Jobs<'_> {
        Jobs::new(&self.requests, &JobQuery { after: None, limit: Some(PAGE) })
    }

    /// Iterates over all devices that were ever registered. An item may be an error: collect into a `Result`.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::{Device, Devices, ListedKey};
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
    /// #     "name": "cellar", "registered_at": 1795000000000, "revoked": false, "revoked_at": null,
    /// #     "verifying_key": "ff", "keys": [{"parameter_id": "01", "key_id": "02"}], "envelopes": 24, "bytes": 21640,
    /// #     "first_started_at": 1795000000000, "last_ended_at": 1795086400000, "last_stored_at": 1795086401000
    /// # }]"#)]);
    ///
    /// let devices: Devices<'_> = cloud.devices();
    /// let devices: Vec<Device> = devices.collect::<Result<_, _>>()?;
    /// assert_eq!((devices[0].name.as_str(), devices[0].sent.envelopes), ("cellar", 24));
    /// let keys: &[ListedKey] = &devices[0].keys;
    /// assert_eq!(keys[0].key_id, "02");
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    pub fn devices(&self) -> Devices<'_> {
        Devices::new(&self.requests, &DeviceQuery { after: None, limit: Some(PAGE) })
    }

    /// Uploads the evaluation keys of a secret key. They replace those uploaded before.
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn put_keys(&self, frame: &[u8]) -> Result<(), CloudError> {
        self.call::<PutKeys>([], &(), frame).map(drop)
    }

    /// Returns the status of the evaluation keys that the cloud stores for a secret key; None if it stores none.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::KeyStatus;
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"{
    /// #     "parameter_id": "01", "key_id": "02", "relinearisation": true, "galois": 3, "rotations": [1, 2, 4],
    /// #     "swap_rows": false, "row": 2048, "transfers": [], "bytes": 655612, "stored_at": 1795000000000
    /// # }"#)]);
    ///
    /// let status: Option<KeyStatus> = cloud.key_status("01", "02")?;
    /// let keys = status.expect("the owner uploaded keys");
    /// assert!(keys.can_rotate(4) && !keys.can_rotate(3));
    /// assert!(keys.can_rotate(4 - 2048), "a rotation by a whole row changes nothing");
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn key_status(&self, parameter_id: &str, key_id: &str) -> Result<Option<KeyStatus>, CloudError> {
        known(reason::UNKNOWN_KEY, self.call::<FetchKeys>([parameter_id, key_id], &(), &()))
    }

    /// Uploads a plan and returns its id.
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn put_plan(&self, frame: &[u8]) -> Result<String, CloudError> {
        Ok(self.call::<PutPlan>([], &(), frame)?.plan_id)
    }

    /// Iterates over the envelopes that match a query. An item may be an error: collect into a `Result`.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::{EnvelopeQuery, Envelopes, StoredEnvelope};
    /// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"[{
    /// #     "id": "0a", "device": "cellar", "stream": "boiler", "sequence": 7, "parameter_id": "01", "key_id": "02",
    /// #     "started_at": 1795000000000, "ended_at": 1795003600000, "readings": 24, "bytes": 937,
    /// #     "stored_at": 1795003601000, "layout": {}
    /// # }]"#)]);
    ///
    /// let windows: Envelopes<'_> = cloud.envelopes(&EnvelopeQuery::of_device("cellar"));
    /// let windows: Vec<StoredEnvelope> = windows.collect::<Result<_, _>>()?;
    /// assert_eq!((windows[0].sequence, windows[0].readings), (7, 24));
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    pub fn envelopes(&self, query: &EnvelopeQuery) -> Envelopes<'_> {
        let limit = query.limit.or(Some(PAGE));
        Envelopes::new(&self.requests, &EnvelopeQuery { limit, ..query.clone() })
    }

    /// Returns one envelope without its ciphertext.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-envelope`.
    pub fn envelope(&self, id: &str) -> Result<StoredEnvelope, CloudError> {
        self.call::<FetchEnvelope>([id], &(), &())
    }

    /// Returns the frame of an envelope's ciphertext.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-envelope`.
    pub fn body(&self, id: &str) -> Result<Vec<u8>, CloudError> {
        self.call::<FetchBody>([id], &(), &())
    }

    /// Returns everything that the device signed for an envelope, as a frame: an envelope of version 1, or a window
    /// with its stream's header.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-envelope`.
    pub fn message(&self, id: &str) -> Result<Vec<u8>, CloudError> {
        self.call::<FetchMessage>([id], &(), &())
    }

    /// Returns a part of a stream's log: the frame of a page with its head, and windows from position `from` on, at most `limit`
    /// of them, or as many as a page holds. Ask again from the next position until no windows are returned.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// # let (cloud, requests) = stand_in::serve(vec![stand_in::ok("a frame")]);
    ///
    /// let page: Vec<u8> = cloud.log("cellar", "boiler", 0, None)?;
    /// assert_eq!(page, b"a frame"); // `LogPage::read` of sotto-wire reads it
    /// # assert_eq!(requests.lock().expect("no panic")[0], "GET /v1/log?device=cellar&stream=boiler&from=0 HTTP/1.1");
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn log(
        &self,
        device: &str,
        stream: &str,
        from: u64,
        limit: Option<u32>,
    ) -> Result<Vec<u8>, CloudError> {
        let (device, stream) = (device.to_owned(), stream.to_owned());
        self.call::<FetchLog>([], &LogQuery { device, stream, from, limit }, &())
    }

    /// Returns the Ed25519 key that the cloud claims to sign with. The claim proves nothing: pin the key that the
    /// cloud's operator publishes.
    ///
    /// # Errors
    /// Those of [`Cloud::call`].
    pub fn identity(&self) -> Result<[u8; 32], CloudError> {
        Ok(self.call::<FetchIdentity>([], &(), &())?.verifying_key)
    }

    /// Submits a plan on envelopes, in the order of the plan's inputs, and returns the job's id. The cloud checks keys,
    /// noise and memory before it accepts the job.
    ///
    /// If the answer is lost, the submission is sent once more under its idempotency key and still becomes one job.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is the failed check, or `queue-full`.
    pub fn submit(&self, plan: &str, inputs: &[&str]) -> Result<String, CloudError> {
        let submission = Submission { plan: plan.to_owned(), inputs: owned(inputs), key: None };
        Ok(self.call::<SubmitJob>([], &(), &submission)?.job)
    }

    /// Adds windows of a stream of sums, which needs no key. `stream` is the stream's tag: 16 hexadecimal digits. Returns
    /// the sums' frame, and the cloud's computing time in microseconds.
    ///
    /// There may be at most 2^20 windows in runs of sequence numbers, 4,096 sums, and 32 MiB of numbers as text.
    ///
    /// ```
    /// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
    /// use sotto_cloud_client::{PartsOf, WindowsOf};
    /// # let (cloud, requests) = stand_in::serve(vec![stand_in::ok("a frame")]);
    ///
    /// // Windows 100 to 147 and 200, and their sum: the first part, each window once.
    /// let sum = PartsOf { windows: (0, 49), parts: vec![0], weights: None };
    /// let request = WindowsOf { windows: vec![(100, 48), (200, 1)], sums: vec![sum] };
    /// assert_eq!(cloud.stream_sums("0011223344556677", &request)?.frame, b"a frame");
    /// # let request = "POST /v1/streams/0011223344556677/sums HTTP/1.1";
    /// # assert_eq!(requests.lock().expect("no panic")[0], request);
    /// # Ok::<(), sotto_cloud_client::CloudError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-stream`, `unknown-envelope` or `wrong-sum`.
    pub fn stream_sums(&self, stream: &str, sums: &WindowsOf) -> Result<Summed, CloudError> {
        self.call::<AddWindows>([stream], &(), sums)
    }

    /// Waits until a job has ended, without a time limit. Calls `on_progress` at least every 200 ms between requests;
    /// [`ControlFlow::Break`] stops the wait. Tolerates a cloud that is unreachable for up to 30 s, e.g. during a
    /// restart.
    ///
    /// # Errors
    /// [`CloudError::JobFailed`] if the job failed, [`CloudError::Cancelled`] if the caller stops the wait, and those of
    /// [`Cloud::call`]; the refusal is `unknown-job`.
    pub fn wait(
        &self,
        job: &str,
        on_progress: impl FnMut(&JobProgress) -> ControlFlow<()>,
    ) -> Result<JobDone, CloudError> {
        job::wait(&self.requests, job, on_progress)
    }

    /// Cancels a job that has not ended; one that has ended stays as it is.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-job`, or `method-not-allowed` of a cloud of an earlier version.
    pub fn cancel(&self, job: &str) -> Result<(), CloudError> {
        self.call::<CancelJob>([job], &(), &()).map(drop)
    }

    /// Returns the frame of an output of a finished job. Outputs are numbered from 0, in the plan's order.
    ///
    /// # Errors
    /// Those of [`Cloud::call`]; the refusal is `unknown-output`.
    pub fn output(&self, job: &str, index: usize) -> Result<Vec<u8>, CloudError> {
        self.call::<FetchOutput>([job, &index.to_string()], &(), &())
    }
}

/// Returns the answer; None if the cloud refuses for this reason.
fn known<T>(unknown: &str, answer: Result<T, CloudError>) -> Result<Option<T>, CloudError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.refusal() == Some(unknown) => Ok(None),
        Err(error) => Err(error),
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
