/// How much of a vendor's state is exported, and how an import applies it.
public enum StateExtent: Sendable {
    /// All records, without passwords, private keys and other secrets: what the control API shows.
    ///
    /// An import replaces the whole state. A record that existed before keeps the secrets that the import omits.
    case whole
    /// The records that requests added or changed, including secrets: what a file needs to survive a restart.
    ///
    /// An import overlays the fixtures' state, so that unchanged records follow the fixtures.
    case changes
}
