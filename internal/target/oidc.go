package target

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"strings"

	"go.mongodb.org/mongo-driver/mongo/options"
)

// kubernetesToken is where a pod finds its token when no variable says otherwise.
const kubernetesToken = "/var/run/secrets/kubernetes.io/serviceaccount/token"

// loginOfPod logs in by the token of the pod that mrbench runs in, where authMechanismProperties say ENVIRONMENT:k8s, which the driver
// does not know itself. The file is read at each login, for it is replaced from time to time.
func loginOfPod(o *options.ClientOptions, getenv func(string) string) {
	const environment = "ENVIRONMENT"
	if o.Auth == nil || o.Auth.AuthMechanism != "MONGODB-OIDC" || !strings.EqualFold(o.Auth.AuthMechanismProperties[environment], "k8s") {
		return
	}
	file := kubernetesToken
	for _, name := range []string{"AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE"} {
		if getenv != nil && getenv(name) != "" {
			file = getenv(name)
		}
	}
	login := *o.Auth
	login.AuthMechanismProperties = maps.Clone(login.AuthMechanismProperties)
	delete(login.AuthMechanismProperties, environment)
	login.OIDCMachineCallback = func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
		b, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("the token of this pod: %w", err)
		}
		return &options.OIDCCredential{AccessToken: string(bytes.TrimSpace(b))}, nil
	}
	o.SetAuth(login)
}
