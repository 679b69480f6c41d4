//! Files in a bucket.

use std::env;
use std::path::Path;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as ObjectPath;
use object_store::{ClientConfigKey, ObjectStore as _, ObjectStoreExt as _, RetryConfig};
use tokio::io::AsyncWriteExt as _;

use crate::LakeError;

/// Time for a connection, and for one request.
const CONNECT: &str = "5s";
const REQUEST: &str = "60s";
/// Times that a request is tried again, and until when.
const AGAIN: usize = 4;
const UNTIL: Duration = Duration::from_secs(60);

/// A bucket that is read.
pub(super) struct Bucket {
    store: AmazonS3,
    prefix: String,
    place: String,
}

impl Bucket {
    pub(super) fn open(bucket: &str, prefix: &str) -> Result<Self, LakeError> {
        let place = format!("s3://{bucket}/{prefix}");
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
            .with_retry(RetryConfig { max_retries: AGAIN, retry_timeout: UNTIL, ..RetryConfig::default() })
            .build()
            .map_err(|error| LakeError::Address(format!("{place}: {error}")))?;
        Ok(Self { store, prefix: prefix.to_owned(), place })
    }

    fn path(&self, name: &str) -> ObjectPath {
        let parts = [self.prefix.as_str(), name];
        ObjectPath::from(parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/"))
    }

    fn failed(&self, name: &str, reason: &object_store::Error) -> LakeError {
        LakeError::Bucket { place: self.place.clone(), name: name.to_owned(), reason: reason.to_string() }
    }

    /// Writes a copy of a file to a new file. Returns false if there is none.
    pub(super) async fn fetch(&self, name: &str, to: &Path) -> Result<bool, LakeError> {
        let found = match self.store.get(&self.path(name)).await {
            Err(object_store::Error::NotFound { .. }) => return Ok(false),
            found => found.map_err(|error| self.failed(name, &error))?,
        };
        let mut file = tokio::fs::File::create_new(to).await.map_err(LakeError::file("write", to))?;
        let mut bytes = found.into_stream();
        while let Some(some) = bytes.try_next().await.map_err(|error| self.failed(name, &error))? {
            file.write_all(&some).await.map_err(LakeError::file("write", to))?;
        }
        file.flush().await.map_err(LakeError::file("write", to))?;
        Ok(true)
    }

    /// Returns the names in a folder, in their order.
    pub(super) async fn list(&self, folder: &str) -> Result<Vec<String>, LakeError> {
        let path = self.path(folder);
        let listed = self.store.list(Some(&path));
        let listed: Vec<_> = listed.try_collect().await.map_err(|error| self.failed(folder, &error))?;
        let mut names: Vec<String> =
            listed.iter().filter_map(|object| object.location.filename().map(str::to_owned)).collect();
        names.sort();
        Ok(names)
    }
}
