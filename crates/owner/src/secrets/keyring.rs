//! The kernel's keyring: it keeps an opened plant key for some time, for all processes of this user.

use std::time::Duration;

use sotto_keys::{PlantKey, PlantKeyName};

#[cfg(target_os = "linux")]
mod kernel {
    use linux_keyutils::{Key, KeyError, KeyPermissionsBuilder, KeyRing, KeyRingIdentifier, Permission};
    use zeroize::Zeroizing;

    /// Keeps bytes under a name for some seconds.
    pub(super) fn keep(name: &str, bytes: &[u8], seconds: usize) -> Result<(), KeyError> {
        // A key of the process, which may give itself away to other processes of this user whatever session they are in.
        let process = KeyRing::from_special_id(KeyRingIdentifier::Process, true)?;
        let key = process.add_key(name, bytes)?;
        let user =
            Permission::VIEW | Permission::READ | Permission::SEARCH | Permission::LINK | Permission::SETATTR;
        let permissions = KeyPermissionsBuilder::builder().posessor(Permission::ALL).user(user).build();
        key.set_perms(permissions)?;
        key.set_timeout(seconds)?;
        KeyRing::from_special_id(KeyRingIdentifier::User, true)?.link_key(key)
    }

    fn find(name: &str) -> Result<Option<(KeyRing, Key)>, KeyError> {
        let user = KeyRing::from_special_id(KeyRingIdentifier::User, false)?;
        match user.search(name) {
            Ok(key) => Ok(Some((user, key))),
            Err(
                KeyError::KeyDoesNotExist
                | KeyError::KeyExpired
                | KeyError::KeyRevoked
                | KeyError::AccessDenied,
            ) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn read(name: &str) -> Option<Zeroizing<[u8; 32]>> {
        let (_, key) = find(name).ok()??;
        let mut bytes = Zeroizing::new([0; 32]);
        (key.read(&mut *bytes).ok()? == bytes.len()).then_some(bytes)
    }

    pub(super) fn forget(name: &str) -> Result<bool, KeyError> {
        let Some((ring, key)) = find(name)? else { return Ok(false) };
        ring.unlink_key(key)?;
        Ok(true)
    }
}

#[cfg(target_os = "linux")]
fn name_of(key: PlantKeyName) -> String {
    format!("sotto:{key}")
}

/// Keeps a plant's key for at most a time, in whole seconds.
pub(super) fn keep(key: &PlantKey, time: Duration) -> Result<(), String> {
    #[cfg(target_os = "linux")]
    {
        let seconds = usize::try_from(time.as_secs()).unwrap_or(usize::MAX).clamp(1, u32::MAX as usize);
        kernel::keep(&name_of(key.name()), key.expose_secret_bytes(), seconds)
            .map_err(|error| error.to_string())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (key, time);
        Err("only Linux has one".to_owned())
    }
}

/// Returns the kept key of this name; None if none is kept, or it cannot be read.
pub(super) fn kept(name: PlantKeyName) -> Option<PlantKey> {
    #[cfg(target_os = "linux")]
    {
        let key = PlantKey::from_bytes(&*kernel::read(&name_of(name))?);
        (key.name() == name).then_some(key)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        None
    }
}

/// Removes the kept key of this name. Returns false if none was kept.
pub(super) fn forget(name: PlantKeyName) -> Result<bool, String> {
    #[cfg(target_os = "linux")]
    {
        kernel::forget(&name_of(name)).map_err(|error| error.to_string())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        Ok(false)
    }
}
