/// How much of a vendor's state is exported, and what an import does with it.
public enum StateExtent: Sendable {
    /// All records, without passwords, private keys and other secrets: what the control API shows.
    ///
    /// Imported, it replaces the whole state. A record that was there before keeps the secrets that the import leaves out.
    case whole
    /// The records that requests made or changed, secrets included: what a file must hold to survive a restart.
    ///
    /// Imported, they are laid over the state that the fixtures give, so that what nobody touched follows the fixtures.
    case changes
}
