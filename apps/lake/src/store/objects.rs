//! Files of a store that are read as a whole: envelopes, evaluation keys, plans.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use tokio::runtime::Handle;

use super::files::Files;
use crate::LakeError;

/// A file of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// An envelope, by its id.
    Envelope([u8; 16]),
    /// Evaluation keys, by the name that the catalogue gives them.
    Keys([u8; 16]),
    /// A plan, by its digest.
    Plan([u8; 32]),
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope(id) => write!(formatter, "envelopes/{}", hex::encode(id)),
            Self::Keys(file) => write!(formatter, "keys/{}", hex::encode(file)),
            Self::Plan(digest) => write!(formatter, "plans/{}", hex::encode(digest)),
        }
    }
}

impl Files {
    /// Reads a file of at most `most` bytes, and checks it. One that only the bucket has is fetched by `bucket`, on a thread that
    /// may wait.
    ///
    /// # Errors
    /// [`LakeError::Gone`] if it is nowhere; [`LakeError::Object`] if it is too long, or the check refuses it.
    pub(crate) fn object(
        &self,
        object: Object,
        most: u64,
        bucket: Option<&Handle>,
        check: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Vec<u8>, LakeError> {
        let name = object.to_string();
        let checked = |bytes: Vec<u8>| match check(&bytes) {
            Ok(()) => Ok(bytes),
            Err(reason) => Err(LakeError::Object { name: name.clone(), reason }),
        };
        let copy = self.bucket.as_ref().map(|_| self.cache.join(name.replace('/', "-")));
        let here = self.folder.as_ref().map(|folder| folder.join(&name));
        for path in here.into_iter().chain(copy.clone()) {
            if let Some(bytes) = read(&path, &name, most)? {
                return checked(bytes);
            }
        }
        let (Some(of), Some(copy)) = (&self.bucket, copy) else { return Err(LakeError::Gone(name)) };
        let Some(bucket) = bucket else {
            return Err(LakeError::Evaluation(format!(
                "{name} is in a bucket, and this thread cannot wait for it"
            )));
        };
        let taken = |file: &Path| {
            let bytes = read(file, &name, most)?.ok_or_else(|| LakeError::Gone(name.clone()))?;
            checked(bytes)
        };
        let fetched = bucket.block_on(async {
            let _few = self.fetching.acquire().await.map_err(|_| LakeError::Gone(name.clone()))?;
            self.fetched(of, &name, &copy, taken).await
        });
        fetched?.ok_or_else(|| LakeError::Gone(name.clone()))
    }
}

/// Reads a file of at most `most` bytes; None if there is none.
fn read(path: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>, LakeError> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(LakeError::file("read", path))?,
    };
    let length = file.metadata().map_err(LakeError::file("read", path))?.len();
    if length > most {
        let reason = format!("it has {length} bytes, and such a file has at most {most}");
        return Err(LakeError::Object { name: name.to_owned(), reason });
    }
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most).read_to_end(&mut bytes).map_err(LakeError::file("read", path))?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Place;
    use super::*;

    #[test]
    fn files_are_bounded_checked_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(&Place::Folder(folder.path().to_owned()), None, folder.path()).unwrap();
        let object = Object::Plan([0xab; 32]);
        let name = format!("plans/{}", "ab".repeat(32));
        let fine = |_: &[u8]| Ok(());
        let missing = files.object(object, 9, None, fine).unwrap_err().to_string();
        assert!(missing.contains(&name) && missing.contains("is missing"), "{missing}");
        fs::create_dir(folder.path().join("plans")).unwrap();
        fs::write(folder.path().join(&name), b"nine byte").unwrap();
        assert_eq!(files.object(object, 9, None, fine).unwrap(), b"nine byte");
        let long = files.object(object, 8, None, fine).unwrap_err().to_string();
        assert!(long.contains(&name) && long.contains("at most 8"), "{long}");
        let refused = files.object(object, 9, None, |_| Err("it is another one".to_owned())).unwrap_err();
        assert!(refused.to_string().contains("it is another one: run `sotto-cloud check`"), "{refused}");
    }
}
