import Tokens

/// The vendor for lists, files and commands.
extension VendorRuntime: LoadedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    // Not by a key path, which generic code would have to build at run time.
    @usableFromInline var failureNames: [String] { V.Failure.allCases.map { $0.rawValue } }
    @usableFromInline var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var verifiableNotes: [String] { V.verifiableNotes }
    @usableFromInline var tokenKinds: [TokenKind] { V.tokenKinds }
    @usableFromInline var requestFacts: [RequestFact] { V.requestFacts }
    @usableFromInline var samples: [SampleCredential] { vendor.samples }
    @usableFromInline var sharedSecrets: [SharedSecret] { vendor.sharedSecrets }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline var routes: [RouteListing] {
        table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, observed: $0.observed, source: $0.source,
                bodyLimit: $0.bodyLimit)
        }
    }

    @usableFromInline
    func sampleRequest(at moment: Moment, base: String) throws(MintRefusal) -> SampleRequest {
        try vendor.sampleRequest(at: moment, base: base)
    }

    @usableFromInline
    func putInForce() -> any AnyVendorInForce { VendorInForce(self) }
}
