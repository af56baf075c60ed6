/** An id that images do not know, so that even one that would run as root does not. */
const NOBODY = 65_532;

/** With the containers' own part, what the Pod Security Standard `restricted` asks for. */
export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: NOBODY,
  runAsGroup: NOBODY,
  fsGroup: NOBODY,
  seccompProfile: { type: 'RuntimeDefault' },
};

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  privileged: false,
  capabilities: { drop: ['ALL'] },
};
