extension RecordCoder {
    /// The keys of issuers that drills have changed, by their names.
    ///
    /// - Parameters:
    ///   - kind: what such an issuer is called.
    ///   - names: the issuers' names, for hints.
    ///   - current: returns the present keys of the issuer with that name; `nil` if there is none. They complete an
    ///     export without private parts.
    package mutating func issuerKeys(
        _ name: String, _ changed: inout [String: IssuerKeys], of kind: String, named names: [String],
        current: (String) throws(MintRefusal) -> IssuerKeys?
    ) {
        let extent = extent ?? .changes
        let exports = elements { changed.values.sorted { $0.name < $1.name }.map { $0.export(extent) } }
        var read: Set<String> = []
        list(name, exports) { (node) throws(FixtureProblem) in
            let issuer = try node.mapping(IssuerKeys.members).required("issuer")
            let name = try issuer.string()
            let known: IssuerKeys?
            do throws(MintRefusal) {
                known = try current(name)
            } catch {
                throw issuer.problem(error.description)
            }
            guard let known else {
                throw issuer.problem("no \(kind) is called \(name)\(Nearest.hint(to: name, among: names))")
            }
            guard read.insert(name).inserted else { throw issuer.problem("\(kind) \(name) occurs twice") }
            changed[known.name] = try known.imported(from: node, extent)
        }
    }
}
