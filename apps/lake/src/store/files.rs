//! The segments of a store: files in its folder, or copies of those in a bucket.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sotto_segment::Segment;
use sotto_wire::Digest;

use super::bucket::Bucket;
use super::handles;
use super::place::Place;
use crate::LakeError;

/// The segments of one store. Those that were used last stay open.
pub struct Files {
    pub(super) folder: Option<PathBuf>,
    pub(super) bucket: Option<Bucket>,
    /// Where copies of a bucket's files are.
    pub(super) cache: PathBuf,
    open: Mutex<Open>,
    pub(super) fetching: tokio::sync::Semaphore,
    copies: AtomicU64,
    blocks: AtomicU64,
}

/// Open segments, with the time of their last use: a count of uses.
#[derive(Default)]
struct Open {
    segments: HashMap<Digest, (Arc<Segment>, u64)>,
    most: usize,
    uses: u64,
    /// All that were opened.
    names: HashSet<Digest>,
}

impl Open {
    fn used(&mut self, digest: &Digest) -> Option<Arc<Segment>> {
        let (segment, used) = self.segments.get_mut(digest)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(segment))
    }

    /// Closes the half that was not used for longest if there are too many.
    fn insert(&mut self, digest: Digest, segment: Arc<Segment>) {
        if self.segments.len() >= self.most {
            let mut uses: Vec<u64> = self.segments.values().map(|(_, used)| *used).collect();
            uses.sort_unstable();
            let middle = uses[uses.len() / 2];
            self.segments.retain(|_, (_, used)| *used > middle);
        }
        self.uses += 1;
        self.segments.insert(digest, (segment, self.uses));
        self.names.insert(digest);
    }
}

/// Segments that are fetched at the same time.
const TOGETHER: usize = 4;

/// Returns the name of a segment's file.
pub(crate) fn name_of(digest: &Digest) -> String {
    hex::encode(&digest[..16])
}

impl Files {
    /// Names the segments of a place. `objects` is the object store of a cloud, where segments are that its folder lacks.
    /// Copies go to the folder `cache`.
    ///
    /// # Errors
    /// [`LakeError`] if the environment does not say how to reach a bucket, or the cache cannot be made.
    pub fn open(place: &Place, objects: Option<&Place>, cache: &Path) -> Result<Self, LakeError> {
        let (mut folder, mut bucket) = (None, None);
        let places = [Some(place), objects];
        for place in places.into_iter().flatten() {
            match place {
                Place::Folder(path) => folder = folder.or(Some(path.clone())),
                Place::Bucket { bucket: name, prefix } => bucket = Some(Bucket::open(name, prefix)?),
            }
        }
        if bucket.is_some() {
            fs::create_dir_all(cache).map_err(LakeError::file("make", cache))?;
        }
        Ok(Self {
            folder,
            bucket,
            cache: cache.to_owned(),
            open: Mutex::new(Open { most: handles::segments(), ..Open::default() }),
            fetching: tokio::sync::Semaphore::new(TOGETHER),
            copies: AtomicU64::default(),
            blocks: AtomicU64::default(),
        })
    }

    /// Returns the number of blocks that were read, to be counted by tests.
    pub fn blocks_read(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    pub(crate) fn note_block(&self) {
        self.blocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of segments that were opened.
    pub fn segments_opened(&self) -> usize {
        self.opened().names.len()
    }

    fn opened(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a segment; fetches it first if only the bucket has it, and compares its digest.
    pub(crate) async fn segment(&self, digest: &Digest) -> Result<Arc<Segment>, LakeError> {
        if let Some(open) = self.opened().used(digest) {
            return Ok(open);
        }
        let name = name_of(digest);
        let path = self.path(&name, digest).await?;
        let segment = Segment::open(&path, *digest).map_err(LakeError::segment(&name))?;
        let segment = Arc::new(segment);
        self.opened().insert(*digest, Arc::clone(&segment));
        Ok(segment)
    }

    async fn path(&self, name: &str, digest: &Digest) -> Result<PathBuf, LakeError> {
        let object = format!("segments/{name}");
        if let Some(folder) = &self.folder {
            let path = folder.join(&object);
            if path.exists() {
                return Ok(path);
            }
        }
        let Some(bucket) = &self.bucket else { return Err(LakeError::Missing(name.to_owned())) };
        let path = self.cache.join(name);
        let _few = self.fetching.acquire().await.map_err(|_| LakeError::Missing(name.to_owned()))?;
        if path.exists() {
            return Ok(path);
        }
        let hashed = |file: &Path| {
            let found = File::open(file).and_then(sotto_segment::hashed);
            if found.map_err(LakeError::file("read", file))? == *digest {
                return Ok(());
            }
            let reason = "its bytes in the bucket are not those that the cloud sealed".to_owned();
            Err(LakeError::Segment { name: name.to_owned(), reason })
        };
        let found = self.fetched(bucket, &object, &path, hashed).await?;
        found.ok_or_else(|| LakeError::Missing(name.to_owned()))?;
        Ok(path)
    }

    /// Fetches the newest database of a backup. Returns its file.
    pub(crate) async fn newest_catalogue(&self, place: &Place) -> Result<PathBuf, LakeError> {
        let none = || LakeError::NoStore(place.to_string());
        let is_database = |name: &String| name.ends_with(".sqlite");
        match (&self.bucket, &self.folder) {
            (_, Some(folder)) => {
                let catalogues = folder.join("catalogues");
                let names = fs::read_dir(&catalogues).map_err(|_| none())?;
                let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
                Ok(catalogues.join(names.filter(is_database).max().ok_or_else(none)?))
            }
            (Some(bucket), None) => {
                let names = bucket.list("catalogues").await?;
                let name = names.into_iter().rfind(is_database).ok_or_else(none)?;
                let path = self.cache.join(&name);
                if !path.exists() {
                    let object = format!("catalogues/{name}");
                    let fetched = self.fetched(bucket, &object, &path, |_| Ok(())).await?;
                    fetched.ok_or_else(none)?;
                }
                Ok(path)
            }
            (None, None) => Err(none()),
        }
    }

    /// Fetches a file of the bucket, checks it, and gives it its name. Returns what the check does; None if the bucket has none.
    pub(super) async fn fetched<T>(
        &self,
        bucket: &Bucket,
        object: &str,
        to: &Path,
        check: impl FnOnce(&Path) -> Result<T, LakeError>,
    ) -> Result<Option<T>, LakeError> {
        let copy = self.copies.fetch_add(1, Ordering::Relaxed);
        let incoming = Incoming(to.with_added_extension(format!("{}.{copy}", std::process::id())));
        if !bucket.fetch(object, &incoming.0).await? {
            return Ok(None);
        }
        let checked = check(&incoming.0)?;
        fs::rename(&incoming.0, to).map_err(LakeError::file("name", to))?;
        Ok(Some(checked))
    }
}

/// A file that is being written; removed unless it got its name.
struct Incoming(PathBuf);

impl Drop for Incoming {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
