//! Addresses of folders and buckets.

use std::convert::Infallible;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;
use sotto_service::settings::Value;

use super::ObjectsError;

const S3: &str = "s3://";

/// The address of a folder, or of a bucket: `s3://BUCKET/PREFIX`. What a bucket needs else (its server, its region, who asks)
/// is read from the environment variables of AWS' tools.
///
/// ```
/// use sotto_cloud::Place;
///
/// let place: Place = "s3://readings/plant".parse().unwrap();
/// assert_eq!(place.to_string(), "s3://readings/plant");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Place(String);

impl Place {
    /// Returns the name and the prefix of a bucket; `None` for a folder.
    pub(super) fn bucket(&self) -> Result<Option<(&str, &str)>, ObjectsError> {
        let Some(rest) = self.0.strip_prefix(S3) else {
            return match self.0.split_once("://") {
                Some((scheme, _)) => Err(ObjectsError::Address(format!(
                    "{self}: files go to a folder or to s3://BUCKET/PREFIX, not to {scheme}"
                ))),
                None if self.0.is_empty() => {
                    Err(ObjectsError::Address("no folder and no bucket is named".to_owned()))
                }
                None => Ok(None),
            };
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains(['@', ':', '?', '#']) {
            let reason = "the form is s3://BUCKET/PREFIX; the server is AWS_ENDPOINT_URL, keys are \
                          AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
            return Err(ObjectsError::Address(format!("{S3}…: {reason}")));
        }
        Ok(Some((bucket, prefix.trim_matches('/'))))
    }

    pub(super) fn folder(&self) -> &Path {
        Path::new(&self.0)
    }

    /// Refuses an address that is neither a folder's nor a bucket's.
    pub(crate) fn check(&self) -> Result<(), ObjectsError> {
        self.bucket().map(drop)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for Place {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

impl From<&Path> for Place {
    fn from(folder: &Path) -> Self {
        Self(folder.display().to_string())
    }
}

impl From<&PathBuf> for Place {
    fn from(folder: &PathBuf) -> Self {
        folder.as_path().into()
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Self {
        place.clone()
    }
}

impl Value for Place {
    fn in_folder(self, folder: &Path) -> Self {
        if self.0.contains("://") { self } else { Self::from(&folder.join(self.0)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_folders_and_other_addresses() {
        let of = |text: &str| Place(text.to_owned()).bucket().map(|of| of.map(|(b, p)| format!("{b}|{p}")));
        assert_eq!(of("s3://a").unwrap().as_deref(), Some("a|"));
        assert_eq!(of("s3://a/b/c/").unwrap().as_deref(), Some("a|b/c"));
        assert_eq!(of("/var/a").unwrap(), None);
        for refused in ["", "s3://", "s3:///a", "gs://a", "http://a/b"] {
            assert!(of(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn a_key_in_an_address_is_refused_and_not_repeated() {
        let error = Place("s3://name:secret@host/a".to_owned()).bucket().unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
