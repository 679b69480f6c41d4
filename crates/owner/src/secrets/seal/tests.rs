//! Passphrases set, changed and removed, interrupted after each step.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::declared::{NewPlant, Plant};
use crate::secrets::Unlock;

const PASSPHRASE: &str = "correct horse";

/// Each secret's file with its kind and its content.
type Known = BTreeMap<PathBuf, (KeyFile, Vec<u8>)>;

struct World {
    folder: tempfile::TempDir,
    known: Known,
}

impl World {
    /// A plant with secrets of two devices, an authority's key, and one that was put aside.
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listen = "127.0.0.1:7410".parse().expect("an address");
        Plant::init(&folder.path().join("plant"), &NewPlant { cloud: None, listen, time_zone: None })
            .expect("made");
        fs::write(folder.path().join("passphrase"), format!("{PASSPHRASE}\n")).expect("written");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let private = fs::Permissions::from_mode(0o600);
            fs::set_permissions(folder.path().join("passphrase"), private).expect("private");
        }
        let mut world = Self { folder, known: Known::new() };
        let secrets = world.secrets();
        make_folder(&secrets.path("old"), true).expect("a folder");
        for (number, (name, kind)) in [
            ("a.key", KeyFile::Device),
            ("a.signing", KeyFile::Signing),
            ("b.key", KeyFile::Device),
            ("authority-key", KeyFile::Document),
            ("old/a.key.1796000000000", KeyFile::Device),
        ]
        .into_iter()
        .enumerate()
        {
            let (path, secret) = (secrets.path(name), vec![number as u8 + 1; 32]);
            secrets.write(kind, &path, &secret).expect("written");
            world.known.insert(path, (kind, secret));
        }
        world
    }

    /// The secrets as a new process sees them.
    fn secrets(&self) -> Secrets {
        let file = self.folder.path().join("passphrase");
        Secrets::of(&self.folder.path().join("plant")).unlocking(Unlock::by_file(file))
    }

    fn all_open(&self, when: &str) {
        let secrets = self.secrets();
        for (path, (kind, secret)) in &self.known {
            let read = secrets.read(*kind, path).unwrap_or_else(|error| panic!("{when}: {error}"));
            assert_eq!(*read, *secret, "{when}: {}", path.display());
        }
    }

    fn are_sealed(&self) -> bool {
        let is_sealed = |path: &PathBuf| {
            let bytes = fs::read(path).expect("read");
            matches!(KeyFile::protected(&bytes), Some(Protected::PlantKey(_)))
        };
        let mut sealed = self.known.keys().map(is_sealed).collect::<Vec<_>>();
        sealed.dedup();
        assert_eq!(sealed.len(), 1, "all or none");
        sealed[0]
    }
}

fn key() -> PlantKey {
    PlantKey::generate(&mut secure_rng().expect("randomness"))
}

#[test]
fn interrupted_after_any_step_all_secrets_open_and_the_command_finishes() {
    let steps = World::new().secrets().setting(&key(), PASSPHRASE).expect("steps").len();
    for done in 0..=steps {
        let world = World::new();
        let (key, secrets) = (key(), world.secrets());
        let all = secrets.setting(&key, PASSPHRASE).expect("steps");
        all.into_iter().take(done).try_for_each(|step| step()).expect("done");
        world.all_open(&format!("set, {done} steps"));
        if done < steps {
            // With a leftover of a write that was cut.
            fs::write(secrets.path("a.key.1-1.partial"), b"secret").expect("written");
            world.secrets().set_passphrase(PASSPHRASE).unwrap_or_else(|error| panic!("{done}: {error}"));
            assert!(!secrets.path("a.key.1-1.partial").exists());
        }
        assert!(world.are_sealed() && !secrets.path(CLEAR).exists(), "{done}");
        world.all_open(&format!("set, {done} steps, and again"));
    }
}

#[test]
fn a_removal_is_finished_or_taken_back() {
    let sealed = || {
        let world = World::new();
        world.secrets().set_passphrase(PASSPHRASE).expect("set");
        world
    };
    let world = sealed();
    let secrets = world.secrets();
    let key = secrets.key().expect("opened").expect("a key");
    let steps = secrets.removing(key).expect("steps").len();
    for done in 0..=steps {
        for again in [true, false] {
            let world = sealed();
            let secrets = world.secrets();
            let key = secrets.key().expect("opened").expect("a key");
            let all = secrets.removing(key).expect("steps");
            all.into_iter().take(done).try_for_each(|step| step()).expect("done");
            world.all_open(&format!("removed, {done} steps"));
            let change = |secrets: Secrets| match again {
                true => secrets.remove_passphrase(),
                false => secrets.set_passphrase(PASSPHRASE),
            };
            match change(world.secrets()) {
                Ok(()) => {}
                Err(OwnerError::Secrets(SecretsError::NoPassphrase)) => assert!(again && done + 1 >= steps),
                Err(OwnerError::Secrets(SecretsError::HasPassphrase)) => assert!(!again && done == 0),
                Err(error) => panic!("{done}, {again}: {error}"),
            }
            assert_eq!(world.are_sealed(), !again, "{done}");
            world.all_open(&format!("removed, {done} steps, then again: {again}"));
        }
    }
}

#[test]
fn a_secret_that_somebody_put_there_is_refused() {
    let world = World::new();
    let secrets = world.secrets();
    secrets.set_passphrase(PASSPHRASE).expect("set");
    let path = secrets.path("a.key");
    fs::remove_file(&path).expect("removed");
    let bytes =
        KeyFile::Device.encode(&[9; 32], Protection::FileMode, &mut secure_rng().expect("randomness"));
    make_private(&path, &bytes.expect("encoded")).expect("written");
    let refused = world.secrets().read(KeyFile::Device, &path).expect_err("foreign");
    assert!(matches!(refused, OwnerError::Secrets(SecretsError::InTheClear { .. })));
    assert!(refused.to_string().contains("sotto passphrase seal a.key"), "{refused}");
    assert_eq!(secrets.strays().expect("read"), std::slice::from_ref(&path));
    // Neither command takes it over.
    secrets.remove_passphrase().expect("removed");
    secrets.set_passphrase(PASSPHRASE).expect("set again");
    // Its owner says that it is his: by name, or by giving all secrets a passphrase.
    assert_eq!(*world.secrets().read(KeyFile::Device, &path).expect("own"), [9; 32]);
}

#[test]
fn without_its_key_nothing_new_is_written_in_the_clear() {
    let world = World::new();
    let secrets = world.secrets();
    secrets.set_passphrase(PASSPHRASE).expect("set");
    fs::remove_file(secrets.path(KEY)).expect("removed");
    let fresh = world.secrets();
    for refused in [
        fresh.write(KeyFile::Device, &secrets.path("c.key"), &[9; 32]).expect_err("no key"),
        fresh.set_passphrase(PASSPHRASE).expect_err("no key"),
        fresh.read(KeyFile::Device, &secrets.path("a.key")).map(drop).expect_err("no key"),
    ] {
        assert!(matches!(refused, OwnerError::Secrets(SecretsError::NoPlantKey { .. })), "{refused}");
    }
}

#[test]
fn a_changed_passphrase_opens_the_same_key() {
    let world = World::new();
    world.secrets().set_passphrase(PASSPHRASE).expect("set");
    let sealed: Vec<Vec<u8>> = world.known.keys().map(|path| fs::read(path).expect("read")).collect();
    world.secrets().change_passphrase("battery staple").expect("changed");
    let refused = world.secrets().key().map(drop).expect_err("the earlier passphrase");
    assert!(matches!(refused, OwnerError::Secrets(SecretsError::WrongPassphrase { .. })), "{refused}");
    fs::write(world.folder.path().join("passphrase"), "battery staple").expect("written");
    world.all_open("changed");
    assert!(
        world.known.keys().map(|path| fs::read(path).expect("read")).eq(sealed),
        "only the key's file changes"
    );
    assert!(world.secrets().change_passphrase("short").is_err());
}

#[test]
fn a_file_is_put_aside_without_links_and_replaces_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let [from, to] = ["a.key", "a.key.17"].map(|name| folder.path().join(name));
    for kind in [ErrorKind::Unsupported, ErrorKind::PermissionDenied] {
        fs::write(&from, "secret").expect("written");
        moved(&from, &to, |_, _| Err(kind.into())).expect("moved");
        assert!(!from.exists() && fs::read(&to).expect("read") == b"secret");
        fs::write(&from, "another").expect("written");
        let refused = moved(&from, &to, |_, _| Err(kind.into())).expect_err("there is one");
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert!(from.exists() && fs::read(&to).expect("read") == b"secret");
        fs::remove_file(&to).expect("removed");
    }
}
