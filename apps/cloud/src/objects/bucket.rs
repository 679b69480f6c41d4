//! Files in a bucket of S3, or of a server that speaks its protocol.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey, Checksum};
use object_store::path::Path as ObjectPath;
use object_store::{
    ClientConfigKey, Error, MultipartUpload as _, ObjectStore as _, ObjectStoreExt as _, PutPayload,
    RetryConfig,
};
use tokio::runtime::{Builder, Runtime};

use super::ObjectsError;

/// Bytes that are sent or fetched at a time. A part of S3 has at least 5 MiB, and a file at most 10,000 parts.
const PART: usize = 16 << 20;
/// Time for a connection, and for one request.
const CONNECT: &str = "5s";
const REQUEST: &str = "60s";
/// Times that a request is tried again, and until when.
const AGAIN: usize = 4;
const UNTIL: Duration = Duration::from_secs(60);

pub(crate) struct Bucket {
    store: AmazonS3,
    prefix: String,
    /// The address, for people.
    place: String,
    /// Taken when the bucket is dropped.
    runtime: Option<Runtime>,
}

impl Drop for Bucket {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // It may be dropped where waiting is not allowed; nothing runs any more.
            runtime.shutdown_background();
        }
    }
}

impl Bucket {
    pub(super) fn open(bucket: &str, prefix: &str) -> Result<Self, ObjectsError> {
        let place = format!("s3://{bucket}/{prefix}");
        let refused = |error: &dyn std::fmt::Display| ObjectsError::Address(format!("{place}: {error}"));
        let client = |key| AmazonS3ConfigKey::Client(key);
        // A server of one's own, named without TLS, is meant so.
        let plain = ["AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_ENDPOINT_URL_S3"]
            .iter()
            .any(|name| env::var(name).is_ok_and(|address| address.starts_with("http://")));
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_config(client(ClientConfigKey::ConnectTimeout), CONNECT)
            .with_config(client(ClientConfigKey::Timeout), REQUEST)
            .with_config(client(ClientConfigKey::AllowHttp), plain.to_string())
            // The server compares what came: a torn upload is refused there.
            .with_checksum_algorithm(Checksum::SHA256)
            .with_retry(RetryConfig { max_retries: AGAIN, retry_timeout: UNTIL, ..RetryConfig::default() })
            .build()
            .map_err(|error| refused(&error))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = Some(runtime.map_err(|error| refused(&error))?);
        Ok(Self { store, prefix: prefix.to_owned(), place, runtime })
    }

    pub(super) fn put(&self, name: &str, file: &Path) -> Result<(), ObjectsError> {
        let from = File::open(file).map_err(ObjectsError::local("read", file))?;
        let bytes = from.metadata().map_err(ObjectsError::local("read", file))?.len();
        let part = || {
            let mut part = Vec::new();
            let read = (&from).take(PART as u64).read_to_end(&mut part);
            read.map(|_| part).map_err(ObjectsError::local("read", file))
        };
        let (path, failed) = (self.path(name), self.failed("write", name));
        if bytes <= PART as u64 {
            let payload = PutPayload::from(part()?);
            return self.wait(self.store.put(&path, payload)).map(drop).map_err(failed);
        }
        let mut upload = self.wait(self.store.put_multipart(&path)).map_err(&failed)?;
        let sent = (|| {
            let mut left = bytes;
            while left > 0 {
                let part = part()?;
                if part.is_empty() {
                    let short = io::Error::from(io::ErrorKind::UnexpectedEof);
                    return Err(ObjectsError::local("read", file)(short));
                }
                left = left.saturating_sub(part.len() as u64);
                self.wait(upload.put_part(part.into())).map_err(&failed)?;
            }
            self.wait(upload.complete()).map(drop).map_err(&failed)
        })();
        if sent.is_err() {
            // Parts without a whole are not kept.
            let _ = self.wait(upload.abort());
        }
        sent
    }

    pub(super) fn fetch(&self, name: &str, to: &Path) -> Result<(), ObjectsError> {
        let (path, failed) = (self.path(name), self.failed("read", name));
        let bytes = self.wait(self.store.head(&path)).map_err(&failed)?.size;
        let mut file = super::create(to)?;
        let mut from = 0;
        while from < bytes {
            let end = bytes.min(from + PART as u64);
            let part = self.wait(self.store.get_range(&path, from..end)).map_err(&failed)?;
            file.write_all(&part).map_err(ObjectsError::local("write", to))?;
            from = end;
        }
        file.sync_all().map_err(ObjectsError::local("write", to))?;
        let written = fs::metadata(to).map_err(ObjectsError::local("write", to))?.len();
        if written == bytes {
            return Ok(());
        }
        let (name, place) = (name.to_owned(), self.place.clone());
        let reason = format!("{written} of its {bytes} bytes came");
        Err(ObjectsError::Failed { doing: "read", name, place, reason })
    }

    pub(super) fn list(&self, folder: &str) -> Result<BTreeMap<String, u64>, ObjectsError> {
        let listed = self.wait(self.store.list_with_delimiter(Some(&self.path(folder))));
        let listed = listed.map_err(self.failed("list", folder))?;
        let name = |path: &ObjectPath| path.filename().map(str::to_owned);
        Ok(listed.objects.iter().filter_map(|of| Some((name(&of.location)?, of.size))).collect())
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), ObjectsError> {
        match self.wait(self.store.delete(&self.path(name))) {
            Err(Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(self.failed("remove", name)),
        }
    }

    fn path(&self, name: &str) -> ObjectPath {
        ObjectPath::from(format!("{}/{name}", self.prefix))
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            // Only while it is dropped.
            None => {
                Err(Error::NotImplemented { operation: "wait".to_owned(), implementer: "Bucket".to_owned() })
            }
        }
    }

    fn failed(&self, doing: &'static str, name: &str) -> impl Fn(Error) -> ObjectsError + use<> {
        let (name, place) = (name.to_owned(), self.place.clone());
        move |error| match error {
            Error::NotFound { .. } => ObjectsError::Missing { place: place.clone(), name: name.clone() },
            error => ObjectsError::Failed {
                doing,
                name: name.clone(),
                place: place.clone(),
                reason: error.to_string(),
            },
        }
    }
}
