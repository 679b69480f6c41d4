//! Versions of a database: a list of migrations, each of which leads to the next version.

use rusqlite::Connection;

/// Leads from one version of a database to the next.
#[derive(Clone, Copy, Debug)]
pub enum Migration {
    /// By these statements.
    Statements(&'static str),
    /// By code, where statements are not enough.
    Function(fn(&Connection) -> rusqlite::Result<()>),
}

/// The reason why a database is not migrated.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// A statement failed.
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// The database has a version that the migrations do not lead to.
    #[error("version {0} is not known here")]
    Version(i64),
}

impl Migration {
    fn run(self, connection: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Statements(statements) => connection.execute_batch(statements),
            Self::Function(function) => function(connection),
        }
    }
}

/// Returns a database's version: the number of migrations that it has had; 0 if it is new.
///
/// # Errors
/// The database cannot be read.
pub fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database to the newest version, in one transaction. A new database gets all migrations.
///
/// # Errors
/// [`MigrationError::Version`] if the database has had more migrations than these.
pub fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), MigrationError> {
    let transaction = connection.transaction()?;
    let found = version(&transaction)?;
    let done = usize::try_from(found).ok().filter(|done| *done <= migrations.len());
    let left = &migrations[done.ok_or(MigrationError::Version(found))?..];
    if left.is_empty() {
        return Ok(());
    }
    left.iter().try_for_each(|migration| migration.run(&transaction))?;
    transaction.pragma_update(None, "user_version", migrations.len() as i64)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIGRATIONS: [Migration; 2] = [
        Migration::Statements("CREATE TABLE words (word TEXT NOT NULL) STRICT"),
        Migration::Function(|connection| {
            connection.execute("INSERT INTO words VALUES ('new')", []).map(drop)
        }),
    ];

    fn words(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM words", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn each_migration_runs_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &MIGRATIONS[..1]).unwrap();
        assert_eq!((version(&connection).unwrap(), words(&connection)), (1, 0));
        for _ in 0..2 {
            migrate(&mut connection, &MIGRATIONS).unwrap();
            assert_eq!((version(&connection).unwrap(), words(&connection)), (2, 1));
        }
        let refused = migrate(&mut connection, &MIGRATIONS[..1]);
        assert!(matches!(refused, Err(MigrationError::Version(2))));
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        let wrong = [MIGRATIONS[0], Migration::Statements("INSERT INTO nowhere VALUES (1)")];
        assert!(matches!(migrate(&mut connection, &wrong), Err(MigrationError::Database(_))));
        assert_eq!(version(&connection).unwrap(), 0);
        migrate(&mut connection, &MIGRATIONS).unwrap();
    }
}
