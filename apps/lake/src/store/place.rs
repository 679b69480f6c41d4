//! Addresses of stores: a folder, or a bucket.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::LakeError;

const S3: &str = "s3://";

/// The address of a store. A bucket's server, its region and its keys are read from the environment variables of AWS' tools,
/// and from nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A folder.
    Folder(PathBuf),
    /// `s3://BUCKET/PREFIX`
    Bucket {
        /// The bucket.
        bucket: String,
        /// The prefix of its files; may be empty.
        prefix: String,
    },
}

impl FromStr for Place {
    type Err = LakeError;

    fn from_str(text: &str) -> Result<Self, LakeError> {
        let Some(rest) = text.strip_prefix(S3) else {
            return match text.split_once("://") {
                Some((scheme, _)) => Err(LakeError::Address(format!(
                    "a store is in a folder or at s3://BUCKET/PREFIX, not at {scheme}://"
                ))),
                None if text.is_empty() => {
                    Err(LakeError::Address("no folder and no bucket is named".to_owned()))
                }
                None => Ok(Self::Folder(text.into())),
            };
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains(['@', ':', '?', '#']) {
            // The text may have a key in it: it is not repeated.
            return Err(LakeError::Address(
                "the form is s3://BUCKET/PREFIX; the server is AWS_ENDPOINT_URL, keys are AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY"
                    .to_owned(),
            ));
        }
        Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(formatter, "{}", folder.display()),
            Self::Bucket { bucket, prefix } => write!(formatter, "{S3}{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_buckets_and_other_addresses() {
        let of = |text: &str| text.parse::<Place>();
        assert_eq!(of("a/b").unwrap(), Place::Folder("a/b".into()));
        assert_eq!(of("s3://a/b/c/").unwrap().to_string(), "s3://a/b/c");
        for refused in ["", "s3://", "s3:///a", "gs://a", "s3://name:secret@host/a"] {
            let error = of(refused).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
